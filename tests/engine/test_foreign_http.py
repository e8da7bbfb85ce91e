"""Exceptions of other people's HTTP libraries: busy servers, time-outs and broken connections are tried again."""

from __future__ import annotations

import logging
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests

from convergebench.engine.foreign import foreign_code
from convergebench.engine.foreign_http import passing_failure
from convergebench.engine.retry import RetryPolicy
from convergebench.errors import EditorError, Transient
from convergebench.redaction import remember_secret
from convergebench.types import EditRequest
from tests.editors.providers.loopback import Answer, serving
from tests.engine.parts import CASES, CountingEditor, query, walk

QUICK = RetryPolicy(attempts=3, first_wait=0.001, longest_wait=0.001)


def by_httpx(address: str, seconds: float) -> None:
    httpx.get(address, timeout=seconds).raise_for_status()


def by_requests(address: str, seconds: float) -> None:
    requests.get(address, timeout=seconds).raise_for_status()


def by_urllib(address: str, seconds: float) -> None:
    with urllib.request.urlopen(address, timeout=seconds) as reply:
        reply.read()


LIBRARIES: dict[str, Callable[[str, float], None]] = {
    "httpx": by_httpx,
    "requests": by_requests,
    "urllib": by_urllib,
}


@pytest.fixture(params=LIBRARIES)
def get(request: pytest.FixtureRequest) -> Callable[[str, float], None]:
    return LIBRARIES[request.param]


def raised(get: Callable[[str, float], None], address: str, seconds: float = 5.0) -> Exception:
    with pytest.raises(Exception, match=r".*") as caught:
        get(address, seconds)
    error = caught.value
    if isinstance(error, urllib.error.HTTPError):
        error.close()
    return error


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
def test_a_busy_or_broken_server_is_asked_again_when_it_says(get: Callable[[str, float], None], status: int) -> None:
    with serving(lambda asked, server: Answer(status, b"later", {"Retry-After": "7"})) as server:
        found = passing_failure(raised(get, server.address))
    assert found is not None
    assert found.retry_after == 7
    assert not found.unsettled, "an error reply is not charged"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_another_status_is_no_passing_failure(get: Callable[[str, float], None], status: int) -> None:
    with serving(lambda asked, server: Answer(status, b"no", {"Retry-After": "7"})) as server:
        assert passing_failure(raised(get, server.address)) is None


def test_a_silent_server_may_have_charged(get: Callable[[str, float], None]) -> None:
    with serving(lambda asked, server: Answer(hold=True)) as server:
        error = raised(get, server.address, 0.2)
    found = passing_failure(error)
    assert found is not None
    assert (found.retry_after, found.unsettled) == (None, True)


def test_a_server_that_is_not_there_has_charged_nothing(get: Callable[[str, float], None]) -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    found = passing_failure(raised(get, f"http://127.0.0.1:{port}/"))
    assert found is not None
    assert found.retry_after is None


def test_a_connection_that_breaks_is_a_passing_failure(get: Callable[[str, float], None]) -> None:
    with serving(lambda asked, server: Answer(reset=True)) as server:
        assert passing_failure(raised(get, server.address)) is not None


class ClientResponseError(Exception):
    """As aiohttp has it."""

    def __init__(self, status: int, headers: Any = None) -> None:
        super().__init__(f"{status}, message='no'")
        self.status, self.headers = status, headers


class ServerTimeoutError(Exception):
    """As aiohttp has it."""


class RateLimitError(Exception):
    """As the providers' libraries have it."""

    status_code = 429


class Unreadable(Exception):
    @property
    def response(self) -> Any:
        raise RuntimeError("closed")


@pytest.mark.parametrize(
    ("error", "passing"),
    [
        (ClientResponseError(503, {"retry-after": "2"}), True),
        (ClientResponseError(404), False),
        (ServerTimeoutError(), True),
        (RateLimitError(), True),
        (ConnectionResetError(104, "reset"), True),
        (Unreadable(), False),
        (ValueError("429"), False),
        (FileNotFoundError(2, "no"), False),
        (SystemExit(429), False),
    ],
)
def test_it_is_told_by_fields_and_names(error: BaseException, passing: bool) -> None:
    with pytest.raises(EditorError) as caught, foreign_code():
        raise error
    assert isinstance(caught.value, Transient) == passing


def test_what_an_error_was_raised_from_counts_and_what_it_was_raised_beside_does_not() -> None:
    wrapped = RuntimeError("the call failed")
    wrapped.__cause__ = RateLimitError()
    beside = KeyError("a slip while handling it")
    beside.__context__ = RateLimitError()
    assert passing_failure(wrapped) is not None
    assert passing_failure(beside) is None
    endless = RuntimeError("round and round")
    endless.__cause__ = endless
    assert passing_failure(endless) is None


def test_a_function_that_meets_a_busy_server_is_called_again(tmp_path: Path) -> None:
    met = {case.id: 0 for case in CASES}

    def fail_twice(request: EditRequest) -> None:
        met[request.case] += 1
        if met[request.case] <= 2:
            raise ClientResponseError(429, {"Retry-After": "0.001"})

    summary, _, progress = walk(tmp_path / "run", CountingEditor(before=fail_twice, dollars=0.5), rounds=1, retry=QUICK)
    assert summary.statuses == {"finished": len(CASES)}
    assert progress.retries == 2 * len(CASES)
    assert set(query(tmp_path / "run", "select dollars, settled from attempts where outcome = 'transient'")) == {(0, 1)}


def test_a_traceback_is_logged_without_keys(caplog: pytest.LogCaptureFixture) -> None:
    secret = "sk-a-key-that-nobody-may-see"
    remember_secret(secret)

    def function_of_mine() -> None:
        raise ValueError(f"sent {secret}")

    with caplog.at_level(logging.DEBUG, "convergebench"), pytest.raises(EditorError), foreign_code():
        function_of_mine()
    assert "function_of_mine" in caplog.text
    assert secret not in caplog.text
