"""The world outside: xAI's endpoint behind a network that fails, an editor on this machine, a judge.

The editor of the package is real, with its HTTP client; only the bytes that would leave the computer are answered
here. What the provider answers depends on the request alone, so that a disturbed run can be held against a calm one.
Each call has a number, which its reply repeats, so that every bill can be found in the journal.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import random
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import httpx
import numpy as np

from convergebench.errors import BadReply, Transient
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.roles.base import Answered, Role
from convergebench.types import Capabilities, Edited, EditRequest, Limits
from tests.gauntlet.plan import NOT_BILLED, SENDS_NOTHING, SPOILED, NetworkFault

KEY = "xai-5f1c3ad2b7e94e6c8a0d"
TICKS = 1e10
PRICE = 0.02
"""What the model's entry says; calls cost this or a little less."""
JUDGE_PRICE = 0.01


@dataclass
class Call:
    """One call that reached the provider."""

    number: int
    dollars: float
    """What is billed for it."""
    fault: NetworkFault | None
    model: str


class Provider:
    """Its books, over all sessions of a seed."""

    def __init__(self, refusals: float) -> None:
        self.refusals = refusals
        self.calls: dict[int, Call] = {}
        self.in_flight = 0
        self.begun = 0
        """Calls of this session."""
        self.unsent = 0
        """Those of them that found no connection."""
        self.faults: Mapping[int, NetworkFault] = {}
        self.arrived: Callable[[bytes], None] = lambda image: None
        """Called when a request has arrived and is billed: what must be true of the run at that moment?"""
        self.jump: Callable[[NetworkFault], None] = lambda fault: None
        self.log: Callable[[str], None] = lambda event: None
        self.is_dead: Callable[[], bool] = lambda: False
        self.randomness = random.Random(0)

    @property
    def billed(self) -> float:
        return sum(call.dollars for call in self.calls.values())

    def begin_session(self, faults: Mapping[int, NetworkFault], randomness: random.Random) -> None:
        self.faults, self.randomness = faults, randomness
        self.begun = self.unsent = self.in_flight = 0

    async def take(self, image: bytes, price: float) -> Call:
        """Bill a call, then let what happens to it happen, up to its reply."""
        if self.is_dead():
            await asyncio.sleep(1e9)
        self.begun += 1
        fault = self.faults.get(self.begun)
        self.log(f"call: {fault or 'well'}")
        if fault in SENDS_NOTHING:
            self.unsent += 1
            await asyncio.sleep(1.0)
            raise (httpx.ConnectTimeout if fault == "connection times out" else httpx.ConnectError)("no way there")
        number = len(self.calls) + 1
        cost = round(price * (1.0 if fault == "no usage" else self.randomness.choice([1.0, 1.0, 0.75])), 6)
        model = f"{'another-maker' if fault == 'another model' else 'grok'}/call-{number}"
        call = Call(number, 0.0 if fault in NOT_BILLED else cost, fault, model)
        self.calls[number] = call
        self.in_flight += 1
        try:
            self.arrived(image)
            if fault in ("clock jumps", "clock set back", "driver killed"):
                self.jump(fault)
            await asyncio.sleep(1e9 if fault == "no reply" else self.randomness.uniform(0.5, 20.0))
        finally:
            self.in_flight -= 1
        if fault == "read times out":
            raise httpx.ReadTimeout("no byte for long")
        if fault == "reset":
            raise httpx.ReadError("connection reset by peer")
        return call

    def refuses(self, request: bytes) -> bool:
        """By its content, every time."""
        return _share(request) < self.refusals


def _share(data: bytes) -> float:
    return int.from_bytes(hashlib.sha256(data).digest()[:4], "big") / 2**32


def _edited(image: bytes, words: str) -> bytes:
    """A new picture, by the old one and the words alone."""
    seed = int.from_bytes(hashlib.sha256(image + words.encode()).digest()[:8], "big")
    noise = np.random.default_rng(seed).integers(-3, 4, (8, 8, 3))
    return encode_png(np.clip(decode(image).pixels.astype(int) + noise, 0, 255).astype(np.uint8))


@contextmanager
def connected(provider: Provider) -> Iterator[None]:
    """Every request over HTTP is answered by this provider."""

    async def handle(_: object, request: httpx.Request) -> httpx.Response:
        sent = json.loads(request.content)
        assert request.headers["authorization"] == f"Bearer {KEY}"
        image = base64.b64decode(sent["image"]["url"].partition(",")[2])
        return _reply(provider, await provider.take(image, PRICE), image, sent["prompt"])

    with patch.object(httpx.AsyncHTTPTransport, "handle_async_request", handle):
        yield


class _CutOff(httpx.AsyncByteStream):
    """Half of a reply, and then nothing."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._data[: len(self._data) // 2]
        raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")


def _reply(provider: Provider, call: Call, image: bytes, words: str) -> httpx.Response:
    fault = call.fault
    if fault in ("429", "429 for hours"):
        wait = {"Retry-After": "7200" if fault == "429 for hours" else "3"}
        return _response(429, {"error": "slow down"}, wait)
    if fault == "503":
        return _response(503, b"upstream connect error")
    if fault == "500 that repeats the key":
        return _response(500, {"error": f"cannot parse header 'Bearer {KEY}'"})
    if provider.refuses(image + words.encode()) and fault not in SPOILED:
        call.dollars = 0.0
        return _response(400, {"code": "invalid argument", "error": "Rejected by content moderation."})
    picture = _edited(image, words)
    if fault == "corrupt image":  # cut short, or whole with wrong bytes in its middle
        middle = len(picture) // 2
        picture = picture[:middle] if call.number % 2 else picture[:middle] + b"oops" + picture[middle + 4 :]
    text = "" if fault == "no image" else base64.b64encode(picture).decode()
    body: dict[str, Any] = {
        "id": f"call-{call.number}",
        "model": call.model,
        "data": [{"b64_json": f"%{text}" if fault == "no base64" else text}],
        "usage": {"cost_in_usd_ticks": round(call.dollars * TICKS)},
    }
    if fault == "no usage":
        del body["usage"]
    data = json.dumps(body).encode()
    if fault == "cut off":
        return httpx.Response(200, stream=_CutOff(data))
    return _response(200, {"doubled reply": data * 2, "no JSON": b"<html>busy</html>"}.get(fault or "", data))


def _response(status: int, body: bytes | dict[str, Any], headers: dict[str, str] | None = None) -> httpx.Response:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.Response(status, stream=httpx.ByteStream(data), headers=headers)


class LocalEditor:
    """Free, on this machine, random by the seed that the engine gives it."""

    name, fingerprint = "local", "local@1"
    capabilities = Capabilities(seed=True, dollars_per_call=0.0)
    limits = Limits(at_once=2)

    async def edit(self, request: EditRequest) -> Edited:
        await asyncio.sleep(0.05)
        image = _edited(request.image, f"{request.instruction} {request.seed}")
        return Edited(image, "image/png", "local", used={"seed": request.seed})


class SimulatedJudge(Role):
    """Asks the same provider; its verdict depends on the question alone."""

    fingerprint, about = "judge@1", "judge"
    dollars_per_call = JUDGE_PRICE
    limits = Limits(at_once=2, seconds=60.0)

    def __init__(self, provider: Provider) -> None:
        self.provider = provider

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        try:
            call = await self.provider.take(images[0], JUDGE_PRICE)
        except httpx.ConnectError as error:
            raise Transient("cannot be reached") from error
        except (httpx.ReadTimeout, httpx.ReadError, httpx.ConnectTimeout) as error:
            raise Transient(str(error), unsettled=not isinstance(error, httpx.ConnectTimeout)) from error
        if call.fault in NOT_BILLED:
            raise Transient("503")
        if call.fault in ("cut off", "doubled reply", "no JSON"):
            raise Transient("the answer was cut off", unsettled=True)
        raw = json.dumps({"id": f"call-{call.number}"})
        if call.fault in ("no image", "no base64", "corrupt image"):
            raise BadReply("no verdict", dollars=call.dollars, raw=raw)
        score = _share(images[0] + json.dumps(dict(payload)).encode())
        return Answered({"score": score}, raw, call.model, call.dollars)
