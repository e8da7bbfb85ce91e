"""What Nano Banana charges, and how a single session with it is told from its beginning."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from convergebench.editors.find import make_editor
from convergebench.editors.providers.gemini import GeminiEditor
from convergebench.editors.providers.gemini.reply import counted, read_reply
from convergebench.editors.providers.sdk import dollars_of
from convergebench.errors import Refused
from convergebench.types import Settings, Turn
from tests.editors.providers.fakes.gemini import SIGNATURE, decoded, picture_part, reply
from tests.editors.providers.loopback import Answer, Answerer, serving
from tests.editors.providers.provider import SECRET
from tests.editors.providers.test_gemini import IN, OUT, SECOND, THIRD, WELL, ask


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", SECRET)


# --- prices -----------------------------------------------------------------------------------------


def test_dollars_are_counted_from_tokens_by_kind() -> None:
    edited, _ = ask(reply(WELL))
    # 1130 in at 2, 1120 of the image at 120, 30 words and 200 thoughts at 12, per million
    assert edited.dollars == pytest.approx((1130 * 2 + 1120 * 120 + 230 * 12) / 1e6)


def test_tokens_of_no_told_kind_are_the_image_s() -> None:
    tokens = counted({"promptTokenCount": 10, "candidatesTokenCount": 1290}, made=True)
    assert tokens == {"text_input": 10, "image_input": 0, "text_output": 0, "image_output": 1290}
    words = {"candidatesTokenCount": 1295, "candidatesTokensDetails": [{"modality": "TEXT", "tokenCount": 5}]}
    tokens = counted(words, made=True)
    assert (tokens["text_output"], tokens["image_output"]) == (5, 1290)
    assert counted({"candidatesTokenCount": 40}, made=False)["text_output"] == 40


def test_without_tokens_the_table_s_price_by_resolution_holds() -> None:
    body = {**reply(WELL), "usageMetadata": {}}
    assert ask(body)[0].dollars == pytest.approx(0.134 + 0.0031)
    assert ask(body, settings=Settings(resolution="4K"))[0].dollars == pytest.approx(0.24 + 0.0031)
    with pytest.raises(Refused) as refused:
        ask({**reply([{"text": "no"}]), "usageMetadata": None})
    assert refused.value.dollars == 0


def test_a_price_that_the_user_states_wins() -> None:
    assert ask(reply(WELL), dollars=0.5)[0].dollars == 0.5


def test_a_kind_of_token_without_a_price_is_not_counted_as_free() -> None:
    editor = make_editor("nano-banana")
    assert isinstance(editor, GeminiEditor)
    assert dollars_of({"smell_input": 3, "text_input": 1}, editor.model.price) is None


# --- sessions ---------------------------------------------------------------------------------------


SINGLE = Settings(session="single")


def scenes() -> list[dict[str, Any]]:
    """Three replies in a row, signed, with thoughts and words."""
    return [
        reply(
            [
                {"text": "**Planning**\nhm", "thought": True},
                {"text": "There.", "thoughtSignature": SIGNATURE},
                picture_part(data, thoughtSignature=SIGNATURE),
            ]
        )
        for data in (OUT, SECOND, THIRD)
    ]


def in_turn(bodies: list[dict[str, Any]]) -> Answerer:
    return lambda asked, server: Answer(body=bodies[len(server.asked) - 1])


def turns(words: list[str], pictures: list[bytes], bodies: list[dict[str, Any]]) -> Iterator[Turn]:
    """As the engine hands them on: the reply's raw text and the files of the run."""
    for position, instruction in enumerate(words):
        raw = read_reply(bodies[position], "it").raw
        yield Turn(instruction, pictures[position], "image/png", pictures[position + 1], "image/png", raw)


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")  # where aiohttp is
def test_a_single_session_is_sent_as_the_library_s_own_chat_sends_it() -> None:
    from google import genai
    from google.genai import types

    async def chat(address: str) -> None:
        options = types.HttpOptions(base_url=address)
        client = genai.Client(api_key=SECRET, vertexai=False, http_options=options)
        talk = client.aio.chats.create(model="m")
        await talk.send_message([types.Part.from_bytes(data=IN, mime_type="image/png"), types.Part(text="one")])
        await talk.send_message("two")
        await talk.send_message("add a hat")
        await client.aio.aclose()

    with serving(in_turn(scenes())) as theirs:
        asyncio.run(chat(theirs.address))
    history = tuple(turns(["one", "two"], [IN, OUT, SECOND], scenes()))
    edited, ours = ask(scenes()[2], history=history, image=SECOND, settings=SINGLE)
    assert ours.first.json["contents"] == theirs.asked[-1].json["contents"]
    assert [len(one["parts"]) for one in ours.first.json["contents"]] == [2, 3, 1, 3, 1]
    assert edited.used["turns"] == 2


def test_signatures_outlive_the_taking_out_of_images() -> None:
    edited, _ = ask(scenes()[0])
    assert edited.raw is not None
    parts = json.loads(edited.raw)["candidates"][0]["content"]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == [None, SIGNATURE, SIGNATURE]
    assert parts[2]["inlineData"]["data"].endswith(")")  # its size and checksum


def test_a_signature_without_words_is_sent_back_too() -> None:
    body = reply([picture_part(OUT), {"text": "", "thoughtSignature": SIGNATURE}])
    _, server = ask(reply(WELL), history=tuple(turns(["one"], [IN, OUT], [body])), image=OUT, settings=SINGLE)
    _, signed = server.first.json["contents"][1]["parts"]
    assert decoded(signed["thoughtSignature"]) == decoded(SIGNATURE)


def test_drafts_are_not_sent_again_and_the_picture_comes_from_the_run() -> None:
    body = reply([picture_part(THIRD, thought=True), picture_part(OUT, thoughtSignature=SIGNATURE)])
    _, server = ask(reply(WELL), history=tuple(turns(["one"], [IN, OUT], [body])), image=OUT, settings=SINGLE)
    (part,) = server.first.json["contents"][1]["parts"]
    assert decoded(part["inlineData"]["data"]) == OUT
    assert decoded(part["thoughtSignature"]) == decoded(SIGNATURE)


@pytest.mark.parametrize("raw", [None, "", "{", "[]", '{"candidates": [{"content": {"parts": 5}}]}'])
def test_a_turn_whose_reply_is_lost_still_has_its_picture(raw: str | None) -> None:
    turn = Turn("one", IN, "image/png", OUT, "image/png", raw)
    _, server = ask(reply(WELL), history=(turn,), image=OUT, settings=SINGLE)
    (part,) = server.first.json["contents"][1]["parts"]
    assert decoded(part["inlineData"]["data"]) == OUT


def test_an_image_that_is_not_the_model_s_last_one_is_sent() -> None:
    turn = Turn("one", IN, "image/png", OUT, "image/png")
    _, server = ask(reply(WELL), history=(turn,), image=THIRD, settings=SINGLE)
    image, words = server.first.json["contents"][-1]["parts"]
    assert decoded(image["inlineData"]["data"]) == THIRD
    assert words == {"text": "add a hat"}


def test_a_fresh_call_knows_nothing_of_what_went_before() -> None:
    turn = Turn("one", IN, "image/png", OUT, "image/png")
    edited, server = ask(reply(WELL), history=(turn,), image=OUT)
    (content,) = server.first.json["contents"]
    assert decoded(content["parts"][0]["inlineData"]["data"]) == OUT
    assert "turns" not in edited.used


def test_the_forecast_of_a_session_grows_with_its_turns() -> None:
    able = make_editor("nano-banana-pro").capabilities
    assert (able.dollars(SINGLE, 10) or 0) > (able.dollars(SINGLE, 0) or 0)
    assert able.dollars(Settings(), 10) == able.dollars(Settings(), 0)
