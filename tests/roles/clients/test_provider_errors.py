"""Errors that only one provider has."""

from __future__ import annotations

from typing import Any

import pytest

from convergebench.errors import EditorError, Prerequisite, Transient
from convergebench.wire.google import GoogleError, google_error
from tests.roles.clients.protocols import KEY
from tests.roles.clients.test_contract import JUDGED, PICTURES
from tests.roles.server import ChatResponse, serving
from tests.roles.test_served import SECRET, ask


def google(status: int, message: str, details: list[dict[str, Any]], name: str = "INVALID_ARGUMENT") -> ChatResponse:
    body = {"error": {"code": status, "message": message, "status": name, "details": details}}
    return ChatResponse(status, body)


def test_google_says_with_400_that_a_key_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, SECRET)
    wrong = google(400, f"API key not valid: {SECRET}", [{"reason": "API_KEY_INVALID"}])
    with serving(wrong) as server, pytest.raises(Prerequisite) as caught:
        ask(server.table(api="gemini", key=KEY), JUDGED, PICTURES)
    assert str(caught.value) == f"{server.base_url} answers 400: it rejects the key in {KEY}"


def test_google_s_quota_of_a_minute_is_waited_for_and_that_of_a_day_is_not() -> None:
    minute: list[dict[str, Any]] = [
        {"violations": [{"quotaId": "RequestsPerMinutePerProject"}]},
        {"retryDelay": "17.5s"},
    ]
    with serving(google(429, "slow down", minute)) as server, pytest.raises(Transient, match="slow down") as caught:
        ask(server.table(api="gemini"), JUDGED, PICTURES)
    assert caught.value.retry_after == 17.5
    day: list[dict[str, Any]] = [{"violations": [{"quotaId": "RequestsPerDayPerProject"}]}, {"retryDelay": "17s"}]
    with serving(google(429, "slow down", day)) as server, pytest.raises(Prerequisite, match="today's quota"):
        ask(server.table(api="gemini"), JUDGED, PICTURES)


def test_a_header_goes_before_google_s_own_delay() -> None:
    reply = google(429, "slow down", [{"retryDelay": "17s"}])
    reply = ChatResponse(429, reply.body, {"Retry-After": "3"})
    with serving(reply) as server, pytest.raises(Transient) as caught:
        ask(server.table(api="gemini"), JUDGED, PICTURES)
    assert caught.value.retry_after == 3.0


def test_a_country_that_google_does_not_serve_ends_the_questions() -> None:
    reply = google(400, "User location is not supported", [], "FAILED_PRECONDITION")
    with serving(reply) as server, pytest.raises(Prerequisite, match="location is not supported"):
        ask(server.table(api="gemini"), JUDGED, PICTURES)


@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"[]", b"[" * 100_000, b'{"error": []}', b'{"error": {"details": [1, {"violations": 2}]}}',
     b'{"error": {"details": [{"retryDelay": "nans"}, {"metadata": []}]}}'],
)  # fmt: skip
def test_an_error_without_details_says_nothing(data: bytes) -> None:
    assert google_error(data) == GoogleError()


def test_an_error_of_a_stream_is_read_too() -> None:
    assert google_error(b'[{"error": {"status": "FAILED_PRECONDITION"}}]').unavailable


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (402, "billing_error", Prerequisite),
        (400, "billing_error", Prerequisite),
        (413, "request_too_large", EditorError),
        (529, "overloaded_error", Transient),
    ],
)
def test_anthropic_names_the_kind_of_its_errors(status: int, kind: str, error: type[Exception]) -> None:
    body = {"type": "error", "error": {"type": kind, "message": "no"}, "request_id": "req_1"}
    with serving(ChatResponse(status, body)) as server, pytest.raises(error) as caught:
        ask(server.table(api="anthropic"), JUDGED, PICTURES)
    assert type(caught.value) is error


def test_a_long_reply_that_fills_the_context_is_cut_short() -> None:
    body = {"model": "m", "content": [{"type": "text", "text": "{"}], "stop_reason": "model_context_window_exceeded"}
    with serving(ChatResponse(body=body)) as server:
        assert ask(server.table(api="anthropic"), JUDGED, PICTURES).value is None
