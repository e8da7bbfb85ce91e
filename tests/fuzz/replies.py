"""Replies of model providers: each adapter's whole call, with one reply of its exchange replaced.

The first byte says which reply is replaced, the second its status; the rest is the body.
"""

from __future__ import annotations

import asyncio
import json
import os
import zlib
from collections.abc import AsyncIterator, Callable
from functools import cache, partial

from convergebench.editors.find import make_editor
from convergebench.editors.providers import download
from convergebench.images.encode import encode_png
from convergebench.rubrics.reply import parse
from convergebench.rubrics.rubric import load_rubric, rubric_names
from convergebench.types import EditRequest
from convergebench.wire import poll
from convergebench.wire.client import HttpReply
from convergebench.wire.google import google_error
from convergebench.wire.raw import without_images
from convergebench.wire.unpack import read_body
from convergebench.wire.verdict import classify_failure
from tests.editors.providers.loopback import Answer, Loopback, Request, serving
from tests.editors.providers.provider import SECRET, Provider
from tests.editors.providers.test_contract import ALL
from tests.fuzz.target import FuzzTarget

STATUSES = (200, 201, 202, 400, 401, 402, 403, 404, 422, 429, 500, 503)
MOST_REQUESTS = 8
"""After these the server only fails, so that a task that is never ready ends."""
ENCODINGS = ("", "gzip", "deflate", "gzip, gzip", "br", "x-gzip,deflate")


@cache
def _picture(width: int) -> bytes:
    import numpy as np

    return encode_png(np.full((400, width, 3), 90, np.uint8))


@cache
def _event_loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


class Exchange:
    """One provider behind a server of this process; its editor stays open for all inputs."""

    def __init__(self, kind: type[Provider]) -> None:
        self.provider = kind()
        variable = self.provider.variable or "A_KEY"
        os.environ |= {variable: SECRET, "CONVERGEBENCH_KEYS": variable}
        download.PAUSES, poll.FIRST = (0.0, 0.0, 0.0), 0.001
        self._replaced: tuple[int, Answer] | None = None
        self._serving = serving(self._answer)
        self._server = self._serving.__enter__()
        address = f"{self._server.address}{self.provider.path}"
        self._editor = make_editor(self.provider.use, base_url=address, seconds=20, **self.provider.options)

    def _answer(self, asked: Request, server: Loopback) -> Answer:
        place = len(server.asked) - 1
        if place >= MOST_REQUESTS:
            return Answer(500)
        if self._replaced is not None and self._replaced[0] == place:
            return self._replaced[1]
        return self.provider.success(asked, server, _picture(464))

    def call(self, replaced: tuple[int, Answer] | None) -> None:
        """One edit; whatever goes wrong is one of the package's own errors."""
        self._server.asked.clear()
        self._replaced = replaced
        request = EditRequest(_picture(448), "image/png", "add a hat", seed=5, case="c", index=1)
        _event_loop().run_until_complete(asyncio.wait_for(self._editor.edit(request), 30))

    def bodies(self) -> list[bytes]:
        """The replies of a call that goes well."""
        told: list[bytes] = []
        plain = self._answer
        self._server.answer = lambda asked, server: _kept(plain(asked, server), told)
        self.call(None)
        self._server.answer = plain
        return told


def _kept(answer: Answer, told: list[bytes]) -> Answer:
    told.append(answer.data)
    return answer


@cache
def _exchange(kind: type[Provider]) -> Exchange:
    return Exchange(kind)


def _replace(kind: type[Provider], data: bytes) -> None:
    place, status, body = data[0] if data else 0, data[1] if len(data) > 1 else 0, data[2:]
    answer = Answer(STATUSES[status % len(STATUSES)], body, {"Content-Type": "application/json"})
    _exchange(kind).call((place % MOST_REQUESTS, answer))


@cache
def _seeds(kind: type[Provider]) -> list[bytes]:
    exchange = _exchange(kind)
    good = [bytes([place, 0]) + body for place, body in enumerate(exchange.bodies()[:MOST_REQUESTS])]
    failure = json.dumps(exchange.provider.failure(400, "this is wrong")).encode()
    return [b"\xff\x00", *good, *(bytes([0, status]) + failure for status in range(3, len(STATUSES)))]


def _unpack(data: bytes) -> None:
    encoding, status = ENCODINGS[data[0] % len(ENCODINGS)] if data else "", 200 if len(data) % 3 else 500

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(1, len(data), 61):
            yield data[start : start + 61]

    body = asyncio.run(read_body(pieces(), encoding, where="x", status=status, most=100_000))
    assert len(body) <= 100_000


def _bodies() -> list[bytes]:
    packed = zlib.compressobj(wbits=31)
    gzip = packed.compress(b'{"a": 1}' * 50) + packed.flush()
    return [b"\0plain", b"\1" + gzip, b"\2" + zlib.compress(b"x" * 500)]


def _rubrics(data: bytes) -> None:
    names = rubric_names()
    parse(data[1:].decode("utf-8", "replace"), load_rubric(names[data[0] % len(names)] if data else names[0]).reply)


def _failure(data: bytes) -> None:
    status = STATUSES[3:][data[0] % 9] if data else 500
    verdict = classify_failure(HttpReply(status, {"retry-after": data[:9].decode("latin-1")}, data[1:], "http://x/"))
    assert verdict.message.isprintable(), verdict.message


def _raw(data: bytes) -> None:
    try:
        reply = json.loads(data)
    except (ValueError, RecursionError):
        reply = data.decode("utf-8", "replace")
    without_images(reply).encode()


ERROR = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "17s", "reason": "x"}]}}
VIOLATED = {"error": {"details": [{"violations": [{"quotaId": "PerDay"}], "metadata": {"quota_limit": "y"}}]}}
FORMS = (
    b'\4{"reason": "r", "better": 0.75}',
    b"\0yes.",
    b"\x0b<think>x</think><answer>3.5</answer>",
    b"\3```json\n{}\n```",
)


def _target(kind: type[Provider]) -> FuzzTarget:
    ended: tuple[type[Exception], ...] = (TimeoutError,)  # the engine's own limit on a call
    return FuzzTarget(partial(_replace, kind), partial(_seeds, kind), ended)


def _jsons(*values: object) -> Callable[[], list[bytes]]:
    return lambda: [json.dumps(value).encode() for value in values]


TARGETS = {
    **{f"reply-{kind.__name__.lower()}": _target(kind) for kind in ALL},
    "reply-body": FuzzTarget(_unpack, _bodies),
    "reply-failure": FuzzTarget(_failure, lambda: [b"\3" + one for one in _jsons(ERROR, {"detail": [{"msg": 1}]})()]),
    "reply-google": FuzzTarget(google_error, _jsons(ERROR, VIOLATED, [ERROR])),
    "reply-rubric": FuzzTarget(_rubrics, lambda: FORMS),
    "reply-kept": FuzzTarget(_raw, _jsons(ERROR, {"image": "data:image/png;base64,AAAA"}, ["a" * 2500])),
}
