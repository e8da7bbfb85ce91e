"""A provider that bills every call it gets and fails in every way a provider, a network or a plug-in can."""

from __future__ import annotations

import asyncio
import math
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.virtual_time import run_virtually
from convergebench.editors.composite.best_of import best_of
from convergebench.engine.retry import RetryPolicy
from convergebench.engine.run import Engine, RunSummary
from convergebench.errors import BadReply, EditorError, Refused, Transient
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.roles.base import Answered, Role
from convergebench.store.run import Run
from convergebench.types import Capabilities, Edited, Editor, EditRequest, Limits
from tests.engine.parts import CASES, IMAGES, begun, chains_of
from tests.engine.test_questions import Judged

PRICE = 1.0
HALF = "\ud800"


class Provider:
    """What it has billed, over all sessions. `faults`: one word per call, in turn; afterwards all goes well."""

    def __init__(self, faults: list[str] | None = None) -> None:
        self.faults = list(faults or ())
        self.bills: list[float] = []
        self.at_call: Callable[[int], object] = lambda number: None

    @property
    def billed(self) -> float:
        return sum(self.bills)

    async def carry_out(self, seed: int) -> str:
        """Bill a call and say what goes wrong with its answer; raises what never reaches the provider's books."""
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "busy":
            raise Transient("503")
        if fault == "refused":
            raise Refused("not this one", reason=f"safety{HALF}")
        self.bills.append(0.75 * PRICE if fault == "cheaper" else PRICE)
        self.at_call(len(self.bills))
        await asyncio.sleep(random.Random(seed).uniform(0.5, 5.0))
        if fault == "cut off":
            raise Transient("the answer was cut off", unsettled=True)
        if fault == "no image":
            raise BadReply(f"no image {HALF}", dollars=PRICE, raw=f"{HALF}")
        if fault == "slip":
            raise KeyError(f"a plug-in's slip {HALF}")
        if fault == "odd price":
            raise EditorError("odd", dollars=math.nan)
        if fault == "hangs":
            await asyncio.sleep(1e6)
        return fault


FAULTS = (
    "", "", "busy", "refused", "cheaper", "cut off", "no image", "slip", "odd price", "hangs", "half a character",
    "not a number", "garbage", "used in a circle",
)  # fmt: skip


class Stormy:
    """An editor at that provider; adds noise fixed by the seed."""

    def __init__(self, name: str, provider: Provider, at_once: int = 3) -> None:
        self.name, self.fingerprint, self.provider = name, f"{name}@1", provider
        self.capabilities = Capabilities(seed=True, dollars_per_call=PRICE)
        self.limits = Limits(at_once=at_once, seconds=60.0)

    async def edit(self, request: EditRequest) -> Edited:
        fault = await self.provider.carry_out(request.seed)
        paid = self.provider_price(fault)
        noise = np.random.default_rng(request.seed).integers(-2, 3, (8, 8, 3))
        pixels = np.clip(decode(request.image).pixels.astype(int) + noise, 0, 255).astype(np.uint8)
        image = b"garbage" if fault == "garbage" else encode_png(pixels)
        model = f"stormy{HALF}" if fault == "half a character" else "stormy"
        used: dict[str, Any] = {"seed": request.seed}
        if fault == "used in a circle":
            used["itself"] = used
        return Edited(image, "image/png", model, paid, reasoning=HALF, raw=f'{{"id": "{HALF}"}}', used=used)

    @staticmethod
    def provider_price(fault: str) -> float:
        return {"cheaper": 0.75 * PRICE, "not a number": math.nan}.get(fault, PRICE)


class StormyJudge(Role):
    """A judge at the same provider."""

    fingerprint, about = "stormy-judge@1", "stormy judge"
    dollars_per_call = PRICE
    limits = Limits(at_once=2, seconds=60.0)

    def __init__(self, provider: Provider) -> None:
        self.provider = provider

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        fault = await self.provider.carry_out(int(payload["attempt"]))
        value = {"score": 0.9, "circle": math.nan} if fault == "garbage" else {"score": 0.9}
        return Answered(value, HALF, HALF, Stormy.provider_price(fault))


def editors_of(provider: Provider) -> dict[str, Editor]:
    """A plain one, and one that calls its part three times for each step."""
    plain = Stormy("plain", provider)
    inner = Stormy("inner", provider)
    return {"plain": plain, "three": best_of("three", of=inner, n=3, metric="rmse")}


def weather(root: Path, provider: Provider, *, max_cost: float | None = None) -> RunSummary:
    """One session over a run directory, hours of which pass at once."""
    with Run.create(root) as run:
        begun(run, IMAGES, CASES[:2])
        retry = RetryPolicy(attempts=3, randomness=random.Random(1))
        engine = Engine(
            run, editors_of(provider), roles={"judge": StormyJudge(provider)}, max_cost=max_cost, retry=retry
        )
        chains = [chain for name in ("plain", "three") for chain in chains_of(CASES[:2], 3, name, Judged())]
        summary, _ = run_virtually(engine.run(chains))
    return summary


def killed_at(root: Path, copy: Path, provider: Provider, call: int, *, max_cost: float | None = None) -> int:
    """What is on the disk at the moment of a call, as a kill leaves it; how many calls had been billed by then."""
    taken: list[int] = []

    def snapshot(number: int) -> None:
        if number == call:
            shutil.copytree(root, copy)
            taken.append(number)

    provider.at_call = snapshot
    weather(root, provider, max_cost=max_cost)
    provider.at_call = lambda number: None
    return taken[0] if taken else 0
