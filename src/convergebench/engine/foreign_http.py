"""What an exception of somebody's HTTP library means, told without importing one: by its fields and its classes' names.

httpx, requests, urllib, aiohttp and the providers' own libraries on top of them put the status code, the headers and
the kind of failure in a few well-known places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

TIME_OUTS = frozenset(
    {
        "APITimeoutError",
        "ConnectTimeout",
        "ConnectTimeoutError",
        "ConnectionTimeoutError",
        "PoolTimeout",
        "ReadTimeout",
        "ReadTimeoutError",
        "ServerTimeoutError",
        "Timeout",
        "TimeoutError",
        "TimeoutException",
        "WriteTimeout",
    }
)
BROKEN_CONNECTIONS = frozenset(
    {
        "APIConnectionError",
        "ChunkedEncodingError",
        "ClientConnectionError",
        "ClientPayloadError",
        "ConnectError",
        "ConnectionError",
        "IncompleteRead",
        "MaxRetryError",
        "NetworkError",
        "NewConnectionError",
        "ProtocolError",
        "RemoteDisconnected",
        "RemoteProtocolError",
        "ServerDisconnectedError",
    }
)
NEVER_SENT = frozenset(
    {
        "ClientConnectorError",
        "ConnectError",
        "ConnectTimeout",
        "ConnectTimeoutError",
        "ConnectionRefusedError",
        "ConnectionTimeoutError",
        "NewConnectionError",
        "PoolTimeout",
        "ProxyError",
    }
)
"""Failures before a request was sent: nothing can have been charged."""
DEEPEST = 6
"""Exceptions that are looked at, from the one that was raised to the one that it was raised from, and so on."""


class HttpFailure(NamedTuple):
    """A passing failure: a busy or broken server, or a connection that timed out or broke."""

    retry_after: float | None
    """The pause that the server asks for, in seconds."""
    unsettled: bool
    """Whether the call may have been charged: not if an error reply came, or if nothing was sent."""


def passing_failure(error: BaseException) -> HttpFailure | None:
    """What it means if it is one that may be gone at the next try; None for any other exception."""
    for one in _with_causes(error):
        response = _field(one, "response")
        status = _status(one, response)
        if status is not None:
            return _of_status(status, response, one)
        names = {kind.__name__ for kind in type(one).__mro__}
        if names & (TIME_OUTS | BROKEN_CONNECTIONS):
            return HttpFailure(None, unsettled=not names & NEVER_SENT)
    return None


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and those that it was raised from; urllib keeps the failure of a connection as its `reason`."""
    one: BaseException | None = error
    for _ in range(DEEPEST):
        if one is None:
            return
        yield one
        reason = _field(one, "reason")
        one = reason if isinstance(reason, BaseException) else one.__cause__


def _status(error: BaseException, response: Any) -> int | None:
    """The status code of an error reply, wherever the library keeps it."""
    places = ((error, "status_code"), (response, "status_code"), (error, "status"), (response, "status"))
    for owner, name in (*places, (error, "code"), (error, "http_status")):
        value = _field(owner, name)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
            return int(value)
    return None


def _of_status(status: int, response: Any, error: BaseException) -> HttpFailure | None:
    from convergebench.wire.verdict import BUSY_STATUSES, retry_after  # after a failure is soon enough

    if status not in BUSY_STATUSES and not (status >= 500 and status != 501):
        return None
    for owner in (response, error):
        headers = _plain(_field(owner, "headers"))
        if headers:
            return HttpFailure(retry_after(headers), unsettled=False)
    return HttpFailure(None, unsettled=False)


def _plain(headers: Any) -> Mapping[str, str]:
    """Headers of any library as a plain mapping."""
    with suppress(Exception):
        return {str(name): str(value) for name, value in headers.items()}
    return {}


def _field(owner: Any, name: str) -> Any:
    """An attribute, or None if there is none or it cannot be read."""
    if owner is None:
        return None
    try:
        return getattr(owner, name, None)
    except Exception:  # a property of foreign code may raise anything
        return None
