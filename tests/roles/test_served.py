"""A served model on the wire: what is sent, what is made of every kind of answer, and that no key ever shows."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from email.utils import formatdate
from time import time
from typing import Any

import numpy as np
import pytest
from PIL import Image

from convergebench.errors import BadReply, EditorError, Prerequisite, Refused, StudyError, Transient
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.roles.base import Answered
from convergebench.roles.served import ServedRole
from convergebench.roles.tables import RoleTable
from convergebench.rubrics.rubric import load_rubric, question
from convergebench.wire.verdict import retry_after
from tests.roles.server import MODEL, ChatResponse, error, forward_reply, message, serving

BEFORE = encode_png(np.full((6, 8, 3), 40, np.uint8))
AFTER = encode_png(np.full((6, 8, 3), 90, np.uint8))
ASKED = question(load_rubric("semantics-forward"), {"instruction": "add a hat"}, operation="add")
RATED = question(load_rubric("visualquality-r1"), {})
SECRET = "sk-test-0123456789abcdef"


def ask(
    table: RoleTable, payload: dict[str, Any] = ASKED, images: tuple[bytes, ...] = (BEFORE, AFTER), repeat: int = 0
) -> Answered:
    async def once() -> Answered:
        role = ServedRole("judge", table)
        try:
            return await role.ask(images, payload, repeat=repeat)
        finally:
            await role.close()

    return asyncio.run(once())


def test_a_question_is_sent_as_the_protocol_wants_it() -> None:
    with serving(message(forward_reply())) as server:
        answered = ask(server.table(temperature=0.2, seed=7, max_tokens=300, detail="high"), repeat=2)
        (request,) = server.requests
    assert answered.value == {"seen": "a hat", "carried_out": 8.0, "other_changes": [], "severity": 2.0}
    assert answered.raw == forward_reply()
    assert answered.model == f"{MODEL}-0915", "as the server says it"
    assert request.path == "/v1/chat/completions"
    assert "authorization" not in request.headers
    body = request.body
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == (MODEL, 0.2, 9, 300)
    assert [part["role"] for part in body["messages"]] == ["system", "user"]
    parts = body["messages"][1]["content"]
    assert [part["type"] for part in parts] == ["image_url", "image_url", "text"]
    assert parts[0]["image_url"]["detail"] == "high"
    sent = [base64.b64decode(url.removeprefix("data:image/png;base64,")) for url in request.pictures]
    assert sent == [BEFORE, AFTER], "the bytes as they are stored"
    assert "«add a hat»" in request.text
    form = body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["strict"] is True
    assert form["json_schema"]["schema"]["required"] == ["seen", "carried_out", "other_changes", "severity"]


def test_what_is_not_given_is_not_sent() -> None:
    with serving(message(forward_reply())) as server:
        ask(server.table(max_tokens=0, structured=False, extra={"top_k": 50, "reasoning_effort": "low"}))
        (request,) = server.requests
    assert set(request.body) == {"model", "messages", "top_k", "reasoning_effort"}
    assert '"carried_out" (number from 0 to 10, or null)' in request.text, "the form is told in words too"


def test_a_prompt_that_a_model_was_trained_on_goes_out_alone() -> None:
    with serving(message("<think>crisp</think><answer>4.31</answer>")) as server:
        answered = ask(server.table(), RATED, (AFTER,))
        (request,) = server.requests
    assert answered.value == {"score": 4.31}
    assert [part["role"] for part in request.body["messages"]] == ["user"]
    assert request.text == RATED["text"]
    assert "response_format" not in request.body


def test_a_format_that_servers_do_not_read_is_sent_as_png_of_the_same_pixels() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 3), np.uint8)
    packed = {}
    for name in ("JPEG", "BMP", "TIFF"):
        stream = io.BytesIO()
        Image.fromarray(pixels).save(stream, name)
        packed[name] = stream.getvalue()
    with serving(message("<answer>3</answer>")) as server:
        for data in packed.values():
            ask(server.table(), RATED, (data,))
        urls = [request.pictures[0] for request in server.requests]
    assert urls[0] == f"data:image/jpeg;base64,{base64.b64encode(packed['JPEG']).decode()}"
    for url in urls[1:]:
        sent = base64.b64decode(url.removeprefix("data:image/png;base64,"))
        assert (decode(sent).pixels == pixels).all()


@pytest.mark.parametrize(
    "reply",
    [
        message(forward_reply()[:40]),
        message(forward_reply(), finish="length"),
        message("", finish="length"),
        message(forward_reply(carried_out=11)),
        message(forward_reply(extra="!")),
        message('{"score": 8}'),
        message("I would give it an 8."),
    ],
)
def test_a_reply_that_is_not_what_was_asked_for_has_no_value(reply: ChatResponse) -> None:
    with serving(reply) as server:
        answered = ask(server.table())
    assert answered.value is None
    assert answered.raw == reply.body["choices"][0]["message"]["content"]


def test_a_score_outside_its_scale_is_kept_where_the_rubric_says_so() -> None:
    with serving(message("<think>ruined</think><answer>0.40</answer>")) as server:
        assert ask(server.table(), RATED, (AFTER,)).value == {"score": 0.4}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (message(None, refusal="I can't help with that."), "refusal"),
        (message("", finish="content_filter"), "content_filter"),
        (message(forward_reply(), finish="content_filter"), "content_filter"),
        (error(400, "blocked", "content_policy_violation"), "content_policy_violation"),
        (error(400, "inappropriate", "DataInspectionFailed"), "DataInspectionFailed"),
    ],
)
def test_a_refusal_is_an_outcome_with_the_servers_own_word(reply: ChatResponse, reason: str) -> None:
    prices = {"input": 2.0, "output": 10.0}
    with serving(reply) as server, pytest.raises(Refused) as caught:
        ask(server.table(dollars_per_million=prices))
    assert caught.value.reason == reason
    assert caught.value.dollars == pytest.approx(0.003 if reply.status == 200 else 0.0)


@pytest.mark.parametrize(
    "reply",
    [
        ChatResponse(body="<html>Welcome</html>"),
        ChatResponse(body={"choices": []}),
        ChatResponse(body={"choices": [{"message": None}]}),
        ChatResponse(body=[]),
        ChatResponse(body={"choices": [{"message": {"content": [{"text": "x"}]}}]}),
        message(""),
        message(None),
    ],
)
def test_an_answer_without_a_message_is_a_bad_reply(reply: ChatResponse) -> None:
    with serving(reply) as server, pytest.raises(BadReply):
        ask(server.table())


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_a_busy_server_is_worth_another_try(status: int) -> None:
    with serving(error(status, "busy", Retry_After="7")) as server, pytest.raises(Transient) as caught:
        ask(server.table())
    assert caught.value.retry_after == 7.0
    assert str(caught.value) == f"{server.base_url}/chat/completions answers {status}: busy"


def test_an_error_inside_a_reply_that_went_well_is_an_error() -> None:
    busy = ChatResponse(body={"error": {"message": "upstream busy", "code": 429}})
    with serving(busy) as server, pytest.raises(Transient, match="upstream busy"):
        ask(server.table())
    with serving(ChatResponse(body={"error": "odd"})) as server, pytest.raises(Transient, match="answers 502: odd"):
        ask(server.table())


def test_the_wish_to_wait_is_read_in_all_its_forms() -> None:
    assert retry_after({"retry-after": "12.5"}) == 12.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert retry_after({"retry-after": "-3"}) == 0.0
    assert retry_after({"retry-after": formatdate(time() + 100, usegmt=True)}) == pytest.approx(100, abs=3)
    assert retry_after({"retry-after": formatdate(time() - 100, usegmt=True)}) == 0.0
    assert retry_after({}) is None
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({"retry-after": "nan"}) is None


def test_a_server_that_is_not_there_or_does_not_answer_is_passing() -> None:
    with serving(message("")) as server:
        table = server.table()
    with pytest.raises(Transient, match="cannot be reached"):
        ask(table)


def test_a_key_goes_out_in_its_header_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", f" {SECRET}\n")
    with serving(message(forward_reply(seen=f"your key is {SECRET}"))) as server:
        answered = ask(server.table(key="JUDGE_KEY"))
        (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in json.dumps(request.body)
    assert SECRET not in f"{answered.raw} {answered.value}"


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_says_what_to_type(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("JUDGE_KEY", value)
    with serving(message(forward_reply())) as server:
        with pytest.raises(Prerequisite, match=r"JUDGE_KEY is not set; .* export JUDGE_KEY=…"):
            ask(server.table(key="JUDGE_KEY"))
        with pytest.raises(Prerequisite, match="JUDGE_KEY is not set"):
            ServedRole("judge", server.table(key="JUDGE_KEY")).ready()
        assert server.requests == []


def test_a_key_that_could_not_be_sent_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for odd in (f"{SECRET}\nX-More: 1", f"{SECRET}é", f"{SECRET} {SECRET}"):
        monkeypatch.setenv("JUDGE_KEY", odd)
        with serving(message(forward_reply())) as server, pytest.raises(Prerequisite) as caught:
            ask(server.table(key="JUDGE_KEY"))
        assert SECRET not in str(caught.value)


def test_a_key_that_is_not_taken_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", SECRET)
    reply = error(401, f"Incorrect API key provided: {SECRET[:12]}…{SECRET[-4:]}. Yours: {SECRET}", "invalid_api_key")
    with serving(reply) as server, pytest.raises(Prerequisite) as caught:
        ask(server.table(key="JUDGE_KEY"))
    assert str(caught.value) == f"{server.base_url} answers 401: it rejects the key in JUDGE_KEY"
    with serving(reply) as server, pytest.raises(Prerequisite, match="name its variable with: key ="):
        ask(server.table())


@pytest.mark.parametrize("status", [400, 403, 429, 500])
def test_no_error_repeats_the_key(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setenv("JUDGE_KEY", SECRET)
    reply = error(status, f"bad: Bearer {SECRET} " * 30)
    with serving(reply) as server, pytest.raises((EditorError, Prerequisite)) as caught:
        ask(server.table(key="JUDGE_KEY"))
    assert SECRET not in str(caught.value)
    assert SECRET not in str(getattr(caught.value, "raw", ""))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_no_credit_left_is_nothing_to_wait_for() -> None:
    for reply in (error(429, "You exceeded your current quota", "insufficient_quota"), error(402, "pay")):
        with serving(reply) as server, pytest.raises(Prerequisite):
            ask(server.table())


def test_an_unknown_model_is_the_studys_mistake() -> None:
    gone = error(404, f"The model `{MODEL}` does not exist")
    with serving(gone) as server, pytest.raises(StudyError, match=r"answers 404: The model .* does not exist \(model"):
        ask(server.table())


def test_a_request_that_is_wrong_fails_by_itself_and_is_not_tried_again() -> None:
    with serving(error(400, "image too large")) as server, pytest.raises(EditorError, match="too large") as caught:
        ask(server.table())
    assert type(caught.value) is EditorError


def test_a_key_is_never_carried_along_a_redirect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", SECRET)
    with serving(message(forward_reply())) as elsewhere:
        moved = ChatResponse(307, {}, {"Location": f"{elsewhere.base_url}/chat/completions"})
        with serving(moved) as server, pytest.raises(EditorError, match="answers 307"):
            ask(server.table(key="JUDGE_KEY"))
        assert elsewhere.requests == []


def test_dollars_are_counted_by_the_servers_own_tokens() -> None:
    prices = {"input": 2.0, "output": 10.0}
    with serving([message(forward_reply()), message(forward_reply(), usage=False)]) as server:
        assert ask(server.table(dollars_per_million=prices)).dollars == pytest.approx((1000 * 2 + 100 * 10) / 1e6)
        uncounted = ask(server.table(dollars_per_million=prices, max_tokens=500)).dollars
        assert uncounted == pytest.approx((6000 * 2 + 500 * 10) / 1e6), "what had been set aside"
    with serving(message(forward_reply())) as server:
        assert ask(server.table()).dollars == 0.0, "nobody knows, and `about` says so"
