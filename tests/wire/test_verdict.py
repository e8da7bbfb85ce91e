"""What a failure means: wait, give up, or take no for an answer."""

from __future__ import annotations

import json
from email.utils import formatdate
from time import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.errors import EditorError, Refused, Transient, Unavailable
from convergebench.wire.client import HttpReply
from convergebench.wire.verdict import classify_failure, message_and_code, retry_after


def answer(status: int, body: Any = None, **headers: str) -> HttpReply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HttpReply(status, headers, data, "https://me:word@example.org/v1/edits?sig=secret")


@pytest.mark.parametrize(
    ("status", "body", "kind", "error"),
    [
        (401, {"error": {"message": "bad key"}}, "key", Unavailable),
        (403, {"detail": "no access"}, "key", Unavailable),
        (402, {"detail": "pay"}, "credit", Unavailable),
        (429, {"error": {"message": "slow down"}}, "busy", Transient),
        (429, {"error": {"code": "insufficient_quota"}}, "credit", Unavailable),
        (400, {"error": {"code": "moderation_blocked"}}, "refused", Refused),
        (400, {"code": "DataInspectionFailed", "message": "no"}, "refused", Refused),
        (400, {"error": {"code": "InputImageSensitiveContentDetected"}}, "refused", Refused),
        (403, {"error": {"code": "content_policy_violation"}}, "refused", Refused),
        (404, {"error": {"message": "no such model"}}, "gone", Unavailable),
        (400, {"error": {"message": "bad size"}}, "wrong", EditorError),
        (301, b"", "wrong", EditorError),
        (418, b"teapot", "wrong", EditorError),
        *((status, b"<html>", "busy", Transient) for status in (408, 409, 425, 500, 502, 503, 504, 529)),
    ],
)
def test_a_status_and_its_body_have_one_meaning(status: int, body: Any, kind: str, error: type[EditorError]) -> None:
    verdict = classify_failure(answer(status, body))
    assert verdict.kind == kind
    raised = verdict.as_editor_error(0.04)
    assert type(raised) is error
    assert raised.dollars == 0.04


def test_a_provider_s_own_codes_count_and_their_case_does_not() -> None:
    refusals = classify_failure(answer(400, {"error": {"code": "NSFW"}}), refusals={"nsfw"})
    assert refusals.kind == "refused"
    assert refusals.code == "NSFW"
    assert classify_failure(answer(400, {"error": {"code": "Broke"}}), no_credit={"broke"}).kind == "credit"


def test_a_status_inside_a_good_answer_can_be_judged() -> None:
    assert classify_failure(answer(200, {"message": "later"}), status=503).kind == "busy"


def test_the_message_is_one_line_with_the_server_s_words_and_without_secrets_of_its_address() -> None:
    verdict = classify_failure(answer(400, {"error": {"message": "the\nimage  is odd"}}))
    assert verdict.message == "https://example.org/v1/edits answers 400: the image is odd"
    assert "secret" not in verdict.message


def test_a_refused_key_is_not_quoted() -> None:
    assert classify_failure(answer(401, {"error": {"message": "no key sk-12"}})).message.endswith("it rejects the key")


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"error": {"message": "m", "code": "c", "type": "t"}}, "m", "c"),
        ({"error": {"message": "m", "type": "t"}}, "m", "t"),
        ({"error": {"message": "m", "status": "INVALID"}}, "m", "INVALID"),
        ({"detail": "m"}, "m", ""),
        ({"error": "HTTPException", "detail": "m", "errors": ""}, "m", "HTTPException"),
        ({"error": "server_error", "message": "m"}, "m", "server_error"),
        ({"error": "m"}, "m", ""),
        ({"error": None, "message": "m"}, "m", ""),
        ({"detail": [{"loc": ["body", "n"], "msg": "too many"}, {"msg": "odd"}, 3]}, "body.n: too many; odd; 3", ""),
        ({"error": {"errors": ["a", "b"]}}, "a; b", ""),
        ([1, 2], "[1, 2]", ""),
        (None, "null", ""),
        ({}, "", ""),
    ],
)
def test_words_and_code_are_found_in_every_shape(body: Any, message: str, code: str) -> None:
    assert message_and_code(json.dumps(body)) == (message, code)


def test_what_is_no_json_is_the_message() -> None:
    assert message_and_code("<html>Bad Gateway") == ("<html>Bad Gateway", "")
    assert message_and_code("[" * 100_000)[1] == ""


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({}, None),
    ],
)
def test_the_server_s_wish_in_seconds(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_wish_given_as_a_date_is_the_time_until_then() -> None:
    wish = retry_after({"Retry-After": formatdate(time() + 60, usegmt=True)})
    assert wish is not None
    assert 50 < wish < 61


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "message", "detail", "errors", "code", "type"]), part, max_size=4)
    ),
    max_leaves=10,
)


@given(st.integers(100, 599), JSON, st.dictionaries(st.sampled_from(["Retry-After", "retry-after-ms"]), st.text()))
def test_any_answer_has_a_meaning_in_one_short_line(status: int, body: Any, headers: dict[str, str]) -> None:
    verdict = classify_failure(answer(status, body, **headers))
    assert isinstance(verdict.as_editor_error(), EditorError)
    assert len(verdict.message) < 400
    assert "\n" not in verdict.message
    assert verdict.message.encode()
    assert verdict.retry_after is None or verdict.retry_after >= 0


@given(st.binary())
def test_any_bytes_have_a_meaning(data: bytes) -> None:
    assert classify_failure(answer(500, data)).kind == "busy"
