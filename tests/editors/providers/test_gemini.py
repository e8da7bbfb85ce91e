"""Nano Banana on the wire: settings, thoughts and drafts, refusals, quotas."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convergebench.editors.find import make_editor
from convergebench.editors.providers.gemini import GeminiEditor
from convergebench.editors.providers.gemini.reply import read_reply
from convergebench.errors import BadReply, EditorError, Refused, StudyError, Transient, Unavailable
from convergebench.reasoning import rounds, sections
from convergebench.types import Edited, EditRequest, Settings, Turn
from tests.editors.providers.fakes.gemini import limited, picture_part, reply
from tests.editors.providers.loopback import Answer, Answerer, Loopback, Request, serving
from tests.editors.providers.provider import SECRET
from tests.editors.providers.test_contract import picture

IN, OUT, SECOND, THIRD = picture(64, 48), picture(80, 48), picture(96, 48), picture(112, 48)
WELL = [picture_part(OUT)]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", SECRET)


def ask(
    answer: Answerer | dict[str, Any] | Answer,
    *,
    use: str = "gemini-3-pro-image",
    settings: Settings | None = None,
    history: tuple[Turn, ...] = (),
    image: bytes = IN,
    **options: Any,
) -> tuple[Edited, Loopback]:
    """One edit against a server that says this."""

    async def once(editor: GeminiEditor) -> Edited:
        request = EditRequest(image, "image/png", "add a hat", settings or Settings(), seed=5, history=history)
        try:
            return await editor.edit(request)
        finally:
            await editor.close()

    told = answer if isinstance(answer, Answer) else Answer(body=answer)
    with serving(answer if callable(answer) else lambda asked, server: told) as server:
        editor = make_editor(use, base_url=server.address, **options)
        assert isinstance(editor, GeminiEditor)
        return asyncio.run(once(editor)), server


def test_nothing_is_sent_that_nobody_asked_for() -> None:
    edited, server = ask(reply(WELL))
    assert server.first.route == "/v1/models/gemini-3-pro-image:generateContent"
    assert server.first.json.keys() == {"contents", "generationConfig"}
    assert server.first.json["generationConfig"] == {"seed": 5, "responseModalities": ["TEXT", "IMAGE"]}
    assert edited.used == {"seed": 5, "response_modalities": ["TEXT", "IMAGE"], "api_version": "v1", "drafts": 0}


def test_every_setting_arrives_and_is_recorded() -> None:
    chosen = Settings(temperature=0.25, resolution="4K", aspect="16:9", reasoning=True)
    edited, server = ask(
        reply(WELL), use="nano-banana-2", settings=chosen, thinking="high", safety="OFF", api_version="v1beta"
    )
    sent = server.first.json
    assert server.first.route == "/v1beta/models/gemini-3.1-flash-image:generateContent"
    assert sent["generationConfig"] == {
        "seed": 5,
        "temperature": 0.25,
        "responseModalities": ["TEXT", "IMAGE"],
        "imageConfig": {"aspectRatio": "16:9", "imageSize": "4K"},
        # the library's own spelling; Google reads both
        "thinkingConfig": {"include_thoughts": True, "thinking_level": "HIGH"},
    }
    assert {one["threshold"] for one in sent["safetySettings"]} == {"OFF"}
    assert len(sent["safetySettings"]) == 4
    assert edited.used.items() >= {"temperature": 0.25, "image_size": "4K", "aspect_ratio": "16:9"}.items()
    assert edited.used.items() >= {"include_thoughts": True, "thinking_level": "high", "safety": "OFF"}.items()


@pytest.mark.parametrize("use", ["gemini-2.5-flash-image", "gemini-3.1-flash-lite-image"])
def test_a_model_of_one_size_is_never_told_a_size(use: str) -> None:
    _, server = ask(reply(WELL), use=use, settings=Settings(resolution="1K", aspect="1:1"))
    assert server.first.json["generationConfig"]["imageConfig"] == {"aspectRatio": "1:1"}


@pytest.mark.parametrize(
    ("use", "level"), [("nano-banana", "high"), ("nano-banana-pro", "high"), ("nano-banana-2", "medium")]
)
def test_a_measure_of_thinking_that_a_model_has_not_is_an_error_at_once(use: str, level: str) -> None:
    with pytest.raises(StudyError, match="think"):
        make_editor(use, thinking=level)


def test_the_last_picture_that_is_no_draft_is_taken_and_drafts_are_counted() -> None:
    parts = [
        picture_part(SECOND, thought=True),
        picture_part(THIRD),
        picture_part(OUT),
        picture_part(SECOND, thought=True),
    ]
    edited, _ = ask(reply(parts))
    assert edited.image == OUT
    assert edited.used["drafts"] == 2
    assert edited.model == "gemini-3-pro-image-001"


def test_thoughts_keep_their_titles() -> None:
    parts = [
        {"text": "**Planning the hat**\n\nOn the head.\n\n", "thought": True},
        {"text": "**Checking the result**\n\nIt sits well.", "thought": True},
        {"text": "Here it is."},
        *WELL,
    ]
    edited, _ = ask(reply(parts), settings=Settings(reasoning=True))
    found = sections(edited.reasoning)
    assert [part.title for part in found] == ["Planning the hat", "Checking the result"]
    assert rounds(found) == 1
    assert ask(reply(parts))[0].reasoning is None


@pytest.mark.parametrize(
    "finish",
    [
        "SAFETY",
        "IMAGE_SAFETY",
        "PROHIBITED_CONTENT",
        "IMAGE_PROHIBITED_CONTENT",
        "RECITATION",
        "IMAGE_RECITATION",
        "BLOCKLIST",
        "SPII",
        "LANGUAGE",
    ],
)
def test_an_end_by_a_filter_is_a_refusal(finish: str) -> None:
    with pytest.raises(Refused, match="I may not") as refused:
        ask(reply(None, finish, finishMessage="I may not."))
    assert refused.value.reason == finish
    assert "I may not" in str(refused.value.raw)  # the library itself leaves it out
    assert refused.value.dollars > 0


@pytest.mark.parametrize(
    "finish", ["NO_IMAGE", "IMAGE_OTHER", "OTHER", "MAX_TOKENS", "MALFORMED_RESPONSE", "CONTINUATION", "STOP", ""]
)
def test_an_end_without_a_reason_is_a_bad_reply(finish: str) -> None:
    with pytest.raises(BadReply):
        ask(reply([], finish))


def test_a_reply_that_could_go_on_is_asked_for_once_and_no_more() -> None:
    seen = 0

    def answer(asked: Request, server: Loopback) -> Answer:
        nonlocal seen
        seen += 1
        return Answer(body=reply([{"text": "so far"}], "CONTINUATION", continuationToken="abcd"))

    with pytest.raises(BadReply):
        ask(answer)
    assert seen == 1


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY"])
def test_a_question_that_is_not_let_through_is_a_refusal(reason: str) -> None:
    with pytest.raises(Refused, match=reason) as refused:
        ask({"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 1000}})
    assert refused.value.reason == reason
    assert refused.value.dollars == pytest.approx(0.002)


@pytest.mark.parametrize("finish", ["STOP", "NO_IMAGE"])
def test_words_alone_are_a_refusal_in_those_words(finish: str) -> None:
    thought = {"text": "Better not.", "thought": True}
    with pytest.raises(Refused, match=r"^I cannot put a hat on a queen\.$") as refused:
        ask(reply([thought, {"text": "I cannot put a hat\non a queen."}], finish))
    assert refused.value.reason == "text-only"


def test_words_that_were_cut_off_are_no_refusal() -> None:
    with pytest.raises(BadReply, match="MAX_TOKENS"):
        ask(reply([{"text": "I will now"}], "MAX_TOKENS"))


def test_drafts_alone_are_a_bad_reply() -> None:
    with pytest.raises(BadReply, match="only 1 drafts"):
        ask(reply([picture_part(OUT, thought=True)]))


# --- failures ---------------------------------------------------------------------------------------


def test_a_minute_s_quota_is_waited_for_as_long_as_google_says() -> None:
    with pytest.raises(Transient) as busy:
        ask(Answer(429, limited("GenerateRequestsPerMinutePerProjectPerModel", "17.5s")))
    assert busy.value.retry_after == 17.5


def test_a_day_s_quota_ends_this_editor() -> None:
    with pytest.raises(Unavailable, match="day"):
        ask(Answer(429, limited("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "17s")))
    other = {
        "code": 429,
        "details": [{"reason": "RATE_LIMIT_EXCEEDED", "metadata": {"quota_limit": "requests_per_day"}}],
    }
    with pytest.raises(Unavailable, match="day"):
        ask(Answer(429, [{"error": other}]))


@pytest.mark.parametrize("details", [None, 3, ["x"], [{"retryDelay": "soon"}], [{"violations": {"quotaId": 1}}]])
def test_a_429_that_explains_nothing_is_a_passing_trouble(details: Any) -> None:
    with pytest.raises(Transient) as busy:
        ask(Answer(429, {"error": {"code": 429, "message": "later", "details": details}}))
    assert busy.value.retry_after is None


def test_a_bad_key_comes_as_400_and_ends_this_editor() -> None:
    error = {"code": 400, "message": f"API key not valid: {SECRET}", "status": "INVALID_ARGUMENT"}
    with pytest.raises(Unavailable, match="rejects the key") as refused:
        ask(Answer(400, {"error": {**error, "details": [{"reason": "API_KEY_INVALID"}]}}))
    assert SECRET not in f"{refused.value}{refused.value.raw}"


def test_a_country_that_is_not_served_ends_this_editor() -> None:
    error = {"code": 400, "message": "User location is not supported.", "status": "FAILED_PRECONDITION"}
    with pytest.raises(Unavailable, match="location"):
        ask(Answer(400, {"error": error}))


def test_a_redirect_is_not_followed() -> None:
    seen = []

    def answer(asked: Request, server: Loopback) -> Answer:
        seen.append(asked)
        return Answer(307, b"", {"Location": f"{server.address}/elsewhere"})

    with pytest.raises(EditorError):
        ask(answer)
    assert len(seen) == 1


ODD: list[Any] = [
    None,
    [],
    "text",
    3,
    {},
    {"candidates": None},
    {"candidates": {}},
    {"candidates": [None, 3]},
    {"candidates": [{"content": []}]},
    {"candidates": [{"content": {"parts": [None, "x", {"inlineData": None}]}}]},
    {"candidates": [{"content": {"parts": [{"inlineData": {"data": 5}}]}}]},
    {"candidates": [{"content": {"parts": [{"inlineData": {"data": "%%%"}}]}}]},
    {"candidates": [{"content": {"parts": [{"text": {"a": 1}}]}, "finishReason": 7}]},
    {"promptFeedback": [1], "usageMetadata": "lots"},
    {"candidates": [], "usageMetadata": {"promptTokenCount": True, "candidatesTokensDetails": {"x": 1}}},
]


@pytest.mark.parametrize("body", ODD, ids=lambda body: json.dumps(body)[:50])
def test_an_odd_reply_is_a_bad_reply(body: Any) -> None:
    with pytest.raises(BadReply) as bad:
        ask(Answer(body=json.dumps(body).encode()))
    assert bad.value.raw is not None


def test_a_picture_that_cannot_be_read_was_paid_for() -> None:
    with pytest.raises(BadReply) as bad:
        ask(reply([{"inlineData": {"mimeType": "image/png", "data": "%%%"}}]))
    assert bad.value.dollars > 0.1


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00", b"{", b"[" * 100_000, b"[" * 600 + b"]" * 600])
@pytest.mark.parametrize("status", [200, 500])
def test_bytes_that_are_no_json_are_tried_again(body: bytes, status: int) -> None:
    with pytest.raises((BadReply, Transient)):
        ask(Answer(status, body))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "candidates",
                    "content",
                    "parts",
                    "inlineData",
                    "data",
                    "text",
                    "thought",
                    "usageMetadata",
                    "finishReason",
                    "promptFeedback",
                    "blockReason",
                    "thoughtSignature",
                    "promptTokensDetails",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(JSON)
def test_no_reply_is_odd_enough_to_break_the_reading(body: Any) -> None:
    try:
        found = read_reply(body, "it")
    except BadReply:
        return
    found.raw.encode()
    if found.image is None:
        assert isinstance(found.refusal("it", 0.0), Refused | BadReply)


# --- surroundings -----------------------------------------------------------------------------------


def test_the_environment_redirects_nothing_and_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    elsewhere = {
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9",
        "GOOGLE_VERTEX_BASE_URL": "http://127.0.0.1:9",
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_GENAI_USE_ENTERPRISE": "false",
        "GOOGLE_CLOUD_PROJECT": "somebody",
        "GOOGLE_GENAI_API_VERSION": "beta",
        "GOOGLE_GENAI_CLIENT_MODE": "replay",
        "GOOGLE_API_KEY": "the-other-key-of-mine",
    }
    for name, value in elsewhere.items():
        monkeypatch.setenv(name, value)
    _, server = ask(reply([{"text": "There."}, *WELL]), key="GEMINI_API_KEY")
    assert server.first.route == "/v1/models/gemini-3-pro-image:generateContent"
    assert server.first.headers["x-goog-api-key"] == SECRET
    assert capfd.readouterr() == ("", "")
    assert make_editor("nano-banana").base_url == GeminiEditor.address  # type: ignore[attr-defined]


def test_the_key_is_looked_for_where_google_looks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "the-other-key-of-mine")
    _, server = ask(reply(WELL))
    assert server.first.headers["x-goog-api-key"] == "the-other-key-of-mine"


def test_one_editor_serves_one_event_loop_after_another() -> None:
    last = {"Connection": "close"}  # nothing stays open that only a loop which has ended could close
    with serving(lambda asked, server: Answer(body=reply(WELL), headers=last)) as server:
        editor = make_editor("nano-banana", base_url=server.address)

        async def once(*, closing: bool) -> bytes:
            edited = await editor.edit(EditRequest(IN, "image/png", "x"))
            if closing:
                await editor.close()  # type: ignore[attr-defined]
            return edited.image

        assert [asyncio.run(once(closing=closing)) for closing in (True, False, True)] == [OUT] * 3


@pytest.mark.parametrize("name", ["a/../b", "m?x=1"])
def test_a_name_that_the_library_does_not_take_is_told_in_one_line(name: str) -> None:
    with pytest.raises(StudyError) as wrong:
        ask(reply(WELL), use=f"google:{name}")
    assert "\n" not in str(wrong.value)


def test_a_retired_preview_names_its_successor() -> None:
    (lack,) = make_editor("gemini-3-pro-image-preview").lacks()  # type: ignore[attr-defined]
    assert "gemini-3-pro-image" in lack.partition(";")[2]


def test_making_them_loads_no_library() -> None:
    code = (
        "import sys; from convergebench.editors.find import make_editor;"
        "[make_editor(one).lacks() for one in ('nano-banana', 'gpt-image-2', 'gpt-6-luna')];"
        "print([one for one in ('google.genai', 'openai', 'httpx2', 'torch') if one in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"
