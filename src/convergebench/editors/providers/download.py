"""Polling and downloads with retries, so that finished and paid work is not lost.

The engine's own retry would submit the task again and pay again. The retries here are limited, and only request
something that already exists.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Callable, Collection
from typing import TypeGuard
from urllib.parse import urljoin, urlsplit

from convergebench.errors import BadReply, EditorError, StudyError, Transient
from convergebench.wire.client import HttpReply, Wire, origin
from convergebench.wire.verdict import BUSY_STATUSES, retry_after

PAUSES = (0.2, 1.0, 3.0)
"""Seconds before the second, third and last try."""
LONGEST_PAUSE = 10.0
"""Longest pause between two tries, even if the server asks for more."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 3


async def with_retries(
    request: Callable[[], Awaitable[HttpReply]],
    *,
    dollars: float = 0.0,
    raw: str | None = None,
    retry_on: Collection[int] = BUSY_STATUSES,
) -> HttpReply:
    """The reply to an idempotent request, after at most four tries.

    `dollars` are already spent. If 0, the cost of the task is unknown, so an error is unsettled.
    """
    for pause in (*PAUSES, None):
        try:
            answer = await request()
            if pause is None or answer.status not in retry_on:
                return answer
            requested = retry_after(answer.headers)
        except StudyError as error:  # the address came from a reply, not from the study
            message = f"a reply names an invalid address: {error}"
            raise BadReply(message, dollars=dollars, raw=raw, unsettled=not dollars) from error
        except EditorError as error:
            if pause is None or not isinstance(error, Transient):
                error.dollars, error.unsettled, error.raw = dollars, not dollars, error.raw or raw
                raise
            requested = error.retry_after
        await asyncio.sleep(min(pause if requested is None else requested, LONGEST_PAUSE))
    raise AssertionError("the last try returns or raises")


async def image_at(wire: Wire, address: str, *, who: str, raw: str | None, dollars: float) -> bytes:
    """Fetch an image from an address in a reply, which may be a `data:` address."""
    if address.startswith("data:"):
        return image_in(address, who=who, raw=raw, dollars=dollars)
    if not is_web_url(_absolute(f"{wire.base_url}/", address)):
        message = f"{who} names an image at an invalid address"
        raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars)
    # a file may be announced a moment before it exists
    retry_on = BUSY_STATUSES | {403, 404}
    answer = await with_retries(lambda: wire.download(address), dollars=dollars, raw=raw, retry_on=retry_on)
    for _ in range(MOST_REDIRECTS):
        location = answer.headers.get("location", "")
        if answer.status not in REDIRECTS or not location:
            break
        target = _absolute(answer.address, location)
        if not is_web_url(target) or (urlsplit(answer.address).scheme, urlsplit(target).scheme) == ("https", "http"):
            message = f"{who} redirects to {origin(target)} for the image"
            raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars)
        answer = await with_retries(_without_key(wire, target), dollars=dollars, raw=raw, retry_on=retry_on)
    if answer.status != 200:
        message = f"{who} is done, but its image cannot be fetched: {origin(answer.address)} answers {answer.status}"
        raise Transient(message, raw=raw, dollars=dollars, unsettled=not dollars)
    return answer.data


def image_in(text: object, *, who: str, raw: str | None, dollars: float) -> bytes:
    """Decode an image in the reply itself, from base64 or a `data:` address."""
    if not isinstance(text, str) or not text:
        raise BadReply(f"{who} sent no image", raw=raw, dollars=dollars, unsettled=not dollars)
    head, _, inside = text.partition(",") if text.startswith("data:") else ("data:;base64", "", text)
    try:
        if not head.endswith(";base64"):
            raise ValueError("not base64")
        return base64.b64decode(inside, validate=True)
    except (binascii.Error, ValueError) as error:
        message = f"{who} sent an image that cannot be read as base64"
        raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars) from error


def _absolute(base: str, address: str) -> str:
    """The absolute address, or empty if it cannot be parsed."""
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def _without_key(wire: Wire, address: str) -> Callable[[], Awaitable[HttpReply]]:
    return lambda: wire.send("GET", address, keyed=False)


def is_web_url(address: object) -> TypeGuard[str]:
    """Whether this value from a reply is a valid http(s) address."""
    if not isinstance(address, str):
        return False
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
