"""A simulated editor: it does what it is told, and wears the picture a little at every step."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, replace

import numpy as np

from convergebench.editors.simulated.carry_out import Done, carry_out
from convergebench.editors.simulated.instruction import understand
from convergebench.editors.simulated.layers import Layered
from convergebench.editors.simulated.memory import read_layered, with_layers
from convergebench.editors.simulated.pixels import Mask, encode_jpeg, encode_png
from convergebench.editors.simulated.wear import KINDS, Occasion, Wear
from convergebench.errors import Refused, Transient
from convergebench.types import Capabilities, Edited, EditRequest, Limits


@dataclass(frozen=True, slots=True)
class Habits:
    """How an editor behaves apart from its wear."""

    remember: bool = True
    """Layers keep the pixels they hide; otherwise things are removed by painting over them."""
    jpeg_quality: int | None = None
    """Answer with JPEG of this quality instead of PNG."""
    forgets: float = 0.0
    """Share of instructions it ignores while it claims success."""
    fails: float = 0.0
    """Chance of a passing error in each of the first `FAILING_ATTEMPTS` attempts."""
    refuses: float = 0.0
    """Share of requests it declines."""
    retry_after: float = 0.0
    """Seconds it asks to be left alone after a passing error."""


FAILING_ATTEMPTS = 2


class SimulatedEditor:
    """Carries out instructions on drawn objects and exact geometry; the seed fixes everything random."""

    def __init__(self, name: str, fingerprint: str, *, wears: tuple[dict[str, object], ...], habits: Habits) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.habits = habits
        self._wears: tuple[tuple[Wear, bool], ...] = tuple(_build(wear) for wear in wears)
        crops = any(wear["kind"] == "crop" for wear in wears)
        # a flaky editor's images are fixed: chance only decides whether there is one
        random = habits.forgets > 0 or any(KINDS[str(wear["kind"])].random for wear in wears)
        self.capabilities = Capabilities(
            seed=True,
            resolutions=("1K", "2K", "4K") if crops else (),
            reasoning=True,
            seconds_per_call=0.015,
            simulated=True,
            deterministic=not random,
        )
        self.limits = Limits(at_once=4)

    async def edit(self, request: EditRequest) -> Edited:
        """Carry out one instruction; the pixel work runs in a thread."""
        self._maybe_fail(request)
        return await asyncio.to_thread(self._edit, request)

    def _edit(self, request: EditRequest) -> Edited:
        picture = read_layered(request.image)
        intent = understand(request.instruction)
        done = carry_out(picture, intent, remember=self.habits.remember)
        if _chance("forget", request.seed) < self.habits.forgets:
            done = Done(picture, done.account)
        worn = self._wear(done.picture, request)
        worn = replace(worn, steps=(picture.steps or 0) + 1)
        quality = self.habits.jpeg_quality
        data = encode_png(worn.pixels) if quality is None else encode_jpeg(worn.pixels, quality)
        mime = "image/png" if quality is None else "image/jpeg"
        return Edited(with_layers(data, worn), mime, self.name, reasoning=done.account)

    def _wear(self, picture: Layered, request: EditRequest) -> Layered:
        for number, (wear, moves) in enumerate(self._wears):
            occasion = Occasion(request.seed * 31 + number, picture.steps or 0, request.settings.resolution)
            picture = _worn(picture, wear, occasion, moves=moves)
        return picture

    def _maybe_fail(self, request: EditRequest) -> None:
        if _chance("refuse", request.seed) < self.habits.refuses:
            raise Refused(f"{self.name} declines this request (simulated)", reason="simulated-policy")
        passing = request.attempt <= FAILING_ATTEMPTS
        if passing and _chance("fail", request.seed, request.attempt) < self.habits.fails:
            raise Transient(f"{self.name} is busy (simulated)", retry_after=self.habits.retry_after)


def _worn(picture: Layered, wear: Wear, occasion: Occasion, *, moves: bool) -> Layered:
    def worn_mask(mask: Mask) -> Mask:
        planes = wear(np.repeat(mask[..., None], 3, axis=2), occasion)
        return np.where(planes[..., 0] > 127, 255, 0).astype(np.uint8)

    worn = picture.changed(lambda pixels: wear(pixels, occasion), worn_mask if moves else None)
    # A crop that found nothing to cut moved nothing.
    return replace(worn, face=picture.face) if worn.pixels.shape == picture.pixels.shape else worn


def _build(wear: dict[str, object]) -> tuple[Wear, bool]:
    kind = KINDS[str(wear["kind"])]
    return kind.make(**{name: value for name, value in wear.items() if name != "kind"}), kind.moves


def _chance(what: str, *numbers: int) -> float:
    """A number in [0, 1) fixed by its arguments."""
    text = ":".join((what, *map(str, numbers)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "big") / (1 << 56)
