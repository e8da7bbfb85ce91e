"""`sim-restorer`: reads restoration prompts, works on the pixels, makes things up, and differs from seed to seed.

    picture ─▶ repaired, as the words ask ─▶ invented detail (a known PSNR) ─▶ sometimes a thing of its own

How much it makes up follows from the prompt's length and its request for fidelity by known amounts (`RestorerTruth`),
so that studies of prompts and of stability can be run without a key, and their analysis checked against the truth.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import asdict, fields

import numpy as np

from convergebench import ids
from convergebench.editors.base import BaseEditor, cpu_limits
from convergebench.editors.simulated.options import NumberOption, Option, read_options
from convergebench.editors.simulated.pixels import decode, encode_png
from convergebench.editors.simulated.restorer_truth import RestorerTruth
from convergebench.editors.simulated.restoring import restored, with_detail, with_thing
from convergebench.editors.simulated.restoring_words import read_wish
from convergebench.errors import StudyError
from convergebench.types import Capabilities, Edited, EditRequest

VERSION = 1
"""Raised whenever the pixels of an answer change."""
LOWEST, HIGHEST = 12.0, 48.0
"""PSNR of the invented detail in dB, whatever is drawn: beyond, rounding to levels would decide."""
FARTHEST = 3.0
"""Deviations at which a draw is cut off."""
SECONDS = 0.5
_RANGES = {
    "level": (20, 44),
    "length_effect": (-10, 10),
    "fidelity_effect": (-10, 10),
    "interaction": (-10, 10),
    "wording": (0, 5),
    "wobble": (0, 5),
    "invents": (0, 1),
    "strength": (0, 1),
}
OPTIONS: dict[str, Option] = {
    field.name: NumberOption(float(field.default), *_RANGES[field.name])  # type: ignore[arg-type]  # they are numbers
    for field in fields(RestorerTruth)
}


class SimulatedRestorer(BaseEditor):
    """Restores pictures as the words ask; the seed fixes everything random."""

    def __init__(self, name: str, given: Mapping[str, object]) -> None:
        if not name.startswith("sim-"):
            raise StudyError(f"a simulated editor's name starts with 'sim-': call '{name}' 'sim-{name}'")
        self.name = name
        self.truth = RestorerTruth(**{key: float(value) for key, value in read_options(name, OPTIONS, given).items()})
        self.fingerprint = ids.fingerprint("sim-restorer", VERSION, asdict(self.truth))
        self.capabilities = Capabilities(seed=True, seconds_per_call=SECONDS, simulated=True)
        self.limits = cpu_limits()

    def notices(self) -> list[str]:
        """What it is, so that nobody takes its numbers for those of a model."""
        return [f"{self.name} is simulated: its prompt effects are built in and say nothing about any model"]

    async def edit(self, request: EditRequest) -> Edited:
        """One restoration, in a thread."""
        return await asyncio.to_thread(self._edit, request)

    def _edit(self, request: EditRequest) -> Edited:
        wish, truth = read_wish(request.instruction), self.truth
        draw = np.random.default_rng(_number("call", request.seed, request.instruction))
        own = np.random.default_rng(_number("wording", request.instruction))
        psnr = truth.psnr(long=wish.long, fidelity=wish.fidelity)
        psnr += truth.wording * _normal(own) + truth.wobble * _normal(draw)
        psnr = float(np.clip(psnr, LOWEST, HIGHEST))
        pixels = with_detail(restored(decode(request.image), wish, truth.strength), psnr, draw)
        used: dict[str, object] = {**asdict(wish), "seed": request.seed, "psnr": round(psnr, 4), "invented": False}
        if draw.uniform() < truth.inventing(fidelity=wish.fidelity):
            pixels, mask = with_thing(pixels, draw)
            used["invented"] = bool(mask.any())
        return Edited(encode_png(pixels), "image/png", "sim-restorer", used=used)


def _normal(draw: np.random.Generator) -> float:
    return float(np.clip(draw.normal(), -FARTHEST, FARTHEST))


def _number(*parts: object) -> int:
    """A number that follows from the parts."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest(), "big")


def sim_restorer(name: str, **options: object) -> SimulatedRestorer:
    """`sim-restorer`: reads restoration prompts; the effects of length, fidelity and chance are built in and known."""
    return SimulatedRestorer(name, options)
