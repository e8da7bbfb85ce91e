"""The world of `benchmarks.million`: an editor with published times and failures, and a store that keeps nothing."""

from __future__ import annotations

import asyncio
import heapq
import math
import random
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from convergebench.engine.plan import Chain
from convergebench.errors import Refused, Transient
from convergebench.ids import image_id
from convergebench.images.encode import encode_png
from convergebench.store.images import file_of
from convergebench.store.tables import ImageRow, TableRow
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import Capabilities, Case, Edited, EditPair, EditRequest, Limits, State

T = TypeVar("T")

WORLD: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("million.toml").read_text(encoding="utf-8"))
PAIR = EditPair("plus", "test", "preserving", ("scene",), "add", "remove", "add", "remove")
CALLS = 2
"""Calls of a chain: one round trip."""
EDITOR = "published"


def picture(seed: int) -> bytes:
    return encode_png(np.random.default_rng(seed).integers(0, 256, (8, 8, 3), np.uint8))


SOURCE = picture(0)
SOURCE_ROW = ImageRow(image_id(SOURCE), file_of(image_id(SOURCE), "image/png"), "image/png", 8, 8, len(SOURCE))


def chains(count: int) -> list[Chain]:
    """So many chains of one source, as a plan holds them: all at once."""
    state = State(SOURCE_ROW.id, SOURCE_ROW.id)
    cases = (Case(f"source/plus/{index}", state, "source", "scene", (PAIR,), index) for index in range(count))
    study = RoundTrip(1)
    return [Chain(EDITOR, case, study, 1) for case in cases]


@dataclass
class Scoring:
    """A pool of workers that score each image as it comes: when would the last be scored?"""

    free: list[float] = field(default_factory=lambda: [0.0] * int(WORLD["scoring"]["workers"]))
    images: int = 0
    last: float = 0.0
    longest_wait: float = 0.0

    def add(self, now: float) -> None:
        begun = max(now, heapq.heappop(self.free))
        self.last = begun + float(WORLD["scoring"]["seconds_per_image"])
        heapq.heappush(self.free, self.last)
        self.longest_wait = max(self.longest_wait, begun - now)
        self.images += 1


class PublishedEditor:
    """Answers after a published time; fails and refuses as often as published."""

    name, fingerprint = EDITOR, "published@1"

    def __init__(self, workers: int, *, outage: tuple[float, float] | None = None, busy: float | None = None) -> None:
        """`outage`: from when to when every call fails. `busy`: another share of replies that ask to wait."""
        self.capabilities = Capabilities(dollars_per_call=float(WORLD["price"]["dollars_per_call"]), simulated=True)
        self.limits = Limits(at_once=workers)
        self.queue: Callable[[], int] = lambda: 0
        self.answered: Callable[[float], None] = lambda now: None
        self.longest_queue = self.calls = self.failed = 0
        self.busy_seconds = 0.0
        self._outage = outage or (math.inf, math.inf)
        latency, failures = WORLD["latency"], WORLD["failures"]
        self._mean = math.log(latency["median_seconds"])
        self._spread = math.log(latency["p95_over_median"]) / 1.6449
        self._busy = float(failures["too_many_requests"] if busy is None else busy)
        self._errors, self._refusals = float(failures["server_errors"]), float(failures["refusals"])
        self._wait = float(failures["retry_after_seconds"])
        self._dice = random.Random(7)
        self._answers = [picture(seed) for seed in range(64)]

    async def edit(self, request: EditRequest) -> Edited:
        self.calls += 1
        if self.calls % 1000 == 0:
            self.longest_queue = max(self.longest_queue, self.queue())
        now, fate = asyncio.get_running_loop().time(), self._dice.random()
        if self._outage[0] <= now < self._outage[1] or fate < self._errors:
            await asyncio.sleep(0.2)
            self.failed += 1
            raise Transient("503")
        if fate < self._errors + self._busy:
            await asyncio.sleep(0.2)
            self.failed += 1
            raise Transient("429", retry_after=self._wait)
        seconds = self._dice.lognormvariate(self._mean, self._spread)
        await asyncio.sleep(seconds)
        self.busy_seconds += seconds
        if self._dice.random() < self._refusals:
            raise Refused("blocked")
        self.answered(asyncio.get_running_loop().time())
        image = self._answers[self.calls % len(self._answers)]
        return Edited(image, "image/png", self.name, dollars=self.capabilities.dollars_per_call or 0.0)


class KeepsNothing:
    """A journal and an image store that only count, so that what is left is the driver."""

    path = Path("nowhere")

    def __init__(self) -> None:
        self.rows = 0

    async def commit(self, rows: Iterable[TableRow]) -> None:
        self.rows += sum(1 for _ in rows)

    def require(self, rows: Iterable[TableRow]) -> None: ...

    def chains(self) -> dict[Any, Any]:
        return {}

    def dollars(self) -> float:
        return 0.0

    def step(self, identity: str) -> None: ...

    def attempts(self, step: str) -> int:
        return 0

    def last_attempt(self, step: str) -> int:
        return 0

    def image_row(self, identity: str) -> ImageRow:
        return SOURCE_ROW

    async def in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        return work(*arguments)

    def read(self, file: str) -> bytes:
        return SOURCE

    def put(self, data: bytes, mime: str) -> str:
        return image_id(data)

    def file_of(self, identity: str, mime: str) -> str:
        return file_of(identity, mime)
