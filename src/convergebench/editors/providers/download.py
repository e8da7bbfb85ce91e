"""Work that is done and paid for is not thrown away: looks and downloads that fail in passing are repeated here.

The engine's own retry would hand in the same task again and pay again. What is here is bounded, and only ever asks for
something that exists already.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Callable, Collection
from typing import TypeGuard
from urllib.parse import urljoin, urlsplit

from convergebench.errors import BadReply, EditorError, StudyError, Transient
from convergebench.wire.client import Answer, Wire, origin
from convergebench.wire.verdict import BUSY, retry_after

PAUSES = (0.2, 1.0, 3.0)
"""Seconds before the second, third and last try."""
PATIENCE = 10.0
"""The longest wish of a server that is granted between two tries."""
ELSEWHERE = frozenset({301, 302, 303, 307, 308})
HOPS = 3


async def steadily(
    ask: Callable[[], Awaitable[Answer]], *, dollars: float = 0.0, raw: str | None = None, again: Collection[int] = BUSY
) -> Answer:
    """The answer to a question that may be asked twice, after at most four tries.

    `dollars` are already spent. Without any the work is under way or done, and nobody knows what it costs: unsettled.
    """
    for pause in (*PAUSES, None):
        try:
            answer = await ask()
            if pause is None or answer.status not in again:
                return answer
            wish = retry_after(answer.headers)
        except StudyError as error:  # the address came out of a reply: no fault of the study's
            message = f"a reply names an address that is none: {error}"
            raise BadReply(message, dollars=dollars, raw=raw, unsettled=not dollars) from error
        except EditorError as error:
            if pause is None or not isinstance(error, Transient):
                error.dollars, error.unsettled, error.raw = dollars, not dollars, error.raw or raw
                raise
            wish = error.retry_after
        await asyncio.sleep(min(pause if wish is None else wish, PATIENCE))
    raise AssertionError("the last try returns or raises")


async def picture_at(wire: Wire, address: str, *, who: str, raw: str | None, dollars: float) -> bytes:
    """The bytes of an image that a reply names, by an address or inside one (`data:`)."""
    if address.startswith("data:"):
        return picture_in(address, who=who, raw=raw, dollars=dollars)
    if not is_web(_joined(f"{wire.base_url}/", address)):
        message = f"{who} names an image at an address that is none"
        raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars)
    # a file may be named a moment before it is there
    again = BUSY | {403, 404}
    answer = await steadily(lambda: wire.download(address), dollars=dollars, raw=raw, again=again)
    for _ in range(HOPS):
        following = answer.headers.get("location", "")
        if answer.status not in ELSEWHERE or not following:
            break
        there = _joined(answer.address, following)
        if not is_web(there) or (urlsplit(answer.address).scheme, urlsplit(there).scheme) == ("https", "http"):
            message = f"{who} sends us to {origin(there)} for the image"
            raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars)
        answer = await steadily(_without_key(wire, there), dollars=dollars, raw=raw, again=again)
    if answer.status != 200:
        message = f"{who} is done, and its image cannot be fetched: {origin(answer.address)} answers {answer.status}"
        raise Transient(message, raw=raw, dollars=dollars, unsettled=not dollars)
    return answer.data


def picture_in(text: object, *, who: str, raw: str | None, dollars: float) -> bytes:
    """The bytes of an image that is in the reply itself, as base64 or as a `data:` address."""
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


def _joined(base: str, address: str) -> str:
    """A whole address, or nothing where it cannot even be taken apart."""
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def _without_key(wire: Wire, address: str) -> Callable[[], Awaitable[Answer]]:
    return lambda: wire.send("GET", address, keyed=False)


def is_web(address: object) -> TypeGuard[str]:
    """Whether this is a whole address of the web: replies are never trusted to hold one."""
    if not isinstance(address, str):
        return False
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
