"""GPT Image as the tool of a language model: sessions, reasoning, and every way to say no."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convergebench.editors.find import make_editor
from convergebench.editors.providers.openai.response import read_response
from convergebench.errors import BadReply, EditorError, Refused, Transient
from convergebench.reasoning import sections
from convergebench.types import Settings, Turn
from tests.editors.providers.fakes.openai_images import fault
from tests.editors.providers.fakes.openai_responses import failed, painted, response, said, thinking
from tests.editors.providers.loopback import Answer
from tests.editors.providers.provider import SECRET
from tests.editors.providers.test_contract import picture
from tests.editors.providers.test_openai import IN, OUT, PAIR, ask

OTHER = picture(96, 48)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)


def test_a_fresh_call_is_one_message_and_one_tool_that_must_be_used() -> None:
    edited, server = ask(use=PAIR)
    sent = server.first.json
    assert server.first.route == "/v1/responses"
    assert sent.keys() == {"model", "input", "tools", "tool_choice", "store"}
    assert (sent["model"], sent["store"]) == ("gpt-6.1-sol", False)
    assert sent["tool_choice"] == {"type": "image_generation"}
    tool = {
        "action": "edit",
        "model": "gpt-image-2.5-sunburst",
        "size": "944x704",
        "quality": "high",
        "background": "opaque",
        "output_format": "png",
    }
    assert sent["tools"] == [{"type": "image_generation", **tool}]
    assert edited.used == {"model": "gpt-6.1-sol", "store": False, "tool": tool}
    assert edited.model == "gpt-6.1-sol-2026-10-01+gpt-image-2.5-sunburst"


def test_options_of_a_pair_arrive() -> None:
    chosen: dict[str, Any] = {
        "model": "gpt-6-luna",
        "tool": "gpt-image-2",
        "effort": "low",
        "moderation": "low",
        "complexity": "high",
    }
    _, server = ask(use=PAIR, **chosen)
    sent = server.first.json
    assert sent["model"] == "gpt-6-luna"
    assert sent["reasoning"] == {"effort": "low"}
    assert sent["tools"][0].items() >= {"model": "gpt-image-2", "moderation": "low", "complexity": "high"}.items()


@pytest.mark.parametrize(
    ("called", "pair"), [("gpt-7+gpt-image-3", ("gpt-7", "gpt-image-3")), ("gpt-7", ("gpt-7", "gpt-image-2"))]
)
def test_any_pair_can_be_named(called: str, pair: tuple[str, str]) -> None:
    _, server = ask(use=f"openai-responses:{called}", settings=Settings(session="single", reasoning=True))
    assert (server.first.json["model"], server.first.json["tools"][0]["model"]) == pair
    assert make_editor(f"openai-responses:{called}").capabilities.sessions


def test_the_reasoning_is_asked_for_and_keeps_its_titles() -> None:
    body = response(thinking("**Planning**\n\nOn the head.", "**Checking the hat**\n\nIt sits."), painted(OUT))
    edited, server = ask(body, use=PAIR, settings=Settings(reasoning=True))
    assert server.first.json["reasoning"] == {"summary": "auto"}
    assert [part.title for part in sections(edited.reasoning)] == ["Planning", "Checking the hat"]
    assert ask(body, use=PAIR)[0].reasoning is None


SINGLE = Settings(session="single")


def test_a_session_goes_on_from_what_is_kept_there() -> None:
    first, server = ask(use=PAIR, settings=SINGLE)
    assert server.first.json["store"] is True
    turn = Turn("one", IN, "image/png", OUT, "image/png", first.raw)
    edited, server = ask(use=PAIR, settings=SINGLE, history=(turn,), image=OUT)
    assert server.first.json["previous_response_id"] == "resp_1"
    assert server.first.json["input"] == [
        {"role": "user", "content": [{"type": "input_text", "text": "add a hat"}]},
    ]
    assert edited.used["previous_response_id"] == "resp_1"
    assert edited.used["turns"] == 1


def test_a_fresh_call_knows_nothing_of_what_went_before() -> None:
    turn = Turn("one", IN, "image/png", OUT, "image/png", '{"id": "resp_0"}')
    _, server = ask(use=PAIR, history=(turn,), image=OUT)
    assert len(server.first.json["input"]) == 1
    assert "previous_response_id" not in server.first.json


def test_both_interfaces_share_one_account() -> None:
    assert make_editor(PAIR).limits.account == make_editor("gpt-image-2").limits.account
    assert make_editor(PAIR, key="MY_KEY").limits.account != make_editor(PAIR).limits.account


def test_an_image_that_is_not_the_last_one_made_is_sent() -> None:
    turn = Turn("one", IN, "image/png", OUT, "image/png", '{"id": "resp_0"}')
    _, server = ask(use=PAIR, settings=SINGLE, history=(turn,), image=OTHER)
    _, image = server.first.json["input"][0]["content"]
    assert base64.b64decode(image["image_url"].partition(",")[2]) == OTHER


@pytest.mark.parametrize("raw", [None, "{", "[]", '{"id": 5}'])
def test_a_session_whose_replies_are_lost_is_told_anew(raw: str | None) -> None:
    turns = (
        Turn("one", IN, "image/png", OUT, "image/png", raw),
        Turn("two", OUT, "image/png", OTHER, "image/png", raw),
    )
    edited, server = ask(use=PAIR, settings=SINGLE, history=turns, image=OTHER)
    messages = server.first.json["input"]
    assert [one["content"][0]["text"] for one in messages] == ["one", "two", "add a hat"]
    sent = [base64.b64decode(one["content"][1]["image_url"].partition(",")[2]) for one in messages]
    assert sent == [IN, OUT, OTHER]
    assert "previous_response_id" not in edited.used


@pytest.mark.parametrize("status", [400, 404])
def test_a_session_that_is_no_longer_kept_ends_its_chain_alone(status: int) -> None:
    turn = Turn("one", IN, "image/png", OUT, "image/png", '{"id": "resp_0"}')
    body = fault("Previous response with id 'resp_0' not found.", "previous_response_not_found")
    with pytest.raises(EditorError, match="run this chain again") as error:
        ask(Answer(status, body), use=PAIR, settings=SINGLE, history=(turn,), image=OUT)
    assert type(error.value) is EditorError


def test_dollars_are_counted_for_both_models() -> None:
    tool = (20 * 5 + 1000 * 8 + 1700 * 30) / 1e6
    language = (1000 * 2 + 500 * 0.1 + 300 * 10) / 1e6
    assert ask(use=PAIR)[0].dollars == pytest.approx(tool + language)


def test_half_a_bill_is_no_bill() -> None:
    body = {**response(painted(OUT)), "tool_usage": None}
    assert ask(body, use=PAIR)[0].dollars == 0
    assert ask(body, use=PAIR, dollars=0.1)[0].dollars == 0.1
    assert ask(use=PAIR, tool="gpt-image-2")[0].dollars == 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (response(failed(code="moderation_blocked", message="no hats", type="x")), "moderation_blocked"),
        (response(said("Sorry."), error={"code": "image_content_policy_violation", "message": "no hats"}), "image_"),
        (response(error={"code": "invalid_prompt", "message": "no hats"}, status="failed"), "invalid_prompt"),
        (response(said("no hats"), incomplete_details={"reason": "content_filter"}), "content_filter"),
        (response({"type": "message", "content": [{"type": "refusal", "refusal": "no hats"}]}), "refusal"),
        (response(said("no hats")), "text-only"),
    ],
)
def test_every_no_is_a_refusal_in_its_own_words(body: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused, match="no hats") as refused:
        ask(body, use=PAIR)
    assert refused.value.reason.startswith(reason)
    assert refused.value.dollars > 0


def test_a_no_to_the_whole_request_is_a_refusal_too() -> None:
    with pytest.raises(Refused, match="no hats") as refused:
        ask(Answer(400, fault("no hats", "invalid_prompt")), use=PAIR)
    assert refused.value.reason == "invalid_prompt"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (response(error={"code": "server_error", "message": "oh"}, status="failed"), Transient),
        (response(error={"code": "rate_limit_exceeded", "message": "oh"}, status="failed"), Transient),
        (response(error={"code": "image_too_small", "message": "oh"}, status="failed"), EditorError),
        (response(failed(code="server_error", message="oh", type="x")), Transient),
        (response(failed(code="odd", message="oh", type="x")), BadReply),
        (response(said("cut"), incomplete_details={"reason": "max_output_tokens"}, status="incomplete"), BadReply),
        (response({"type": "image_generation_call", "status": "failed", "result": None}, said("oh")), BadReply),
        (response(), BadReply),
    ],
)
def test_a_response_that_came_to_nothing(body: dict[str, Any], kind: type[EditorError]) -> None:
    with pytest.raises(kind) as error:
        ask(body, use=PAIR)
    assert type(error.value) is kind


def test_the_last_of_several_pictures_is_taken() -> None:
    assert ask(response(painted(OTHER), painted(OUT)), use=PAIR)[0].image == OUT


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "output",
                    "type",
                    "result",
                    "content",
                    "summary",
                    "text",
                    "refusal",
                    "error",
                    "code",
                    "message",
                    "incomplete_details",
                    "reason",
                    "moderation_details",
                    "categories",
                ]
            ),
            inner | st.sampled_from(["image_generation_call", "message", "reasoning", "server_error"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(JSON)
def test_no_response_is_odd_enough_to_break_the_reading(body: Any) -> None:
    found = read_response(body if isinstance(body, dict) else {"output": body}, "it")
    found.raw.encode()
    if found.image is None:
        assert isinstance(found.refusal("it", 0.0), EditorError)
