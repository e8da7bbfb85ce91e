"""A simulated editor: carries out the instruction, and wears the picture a little at every step."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from convergebench.editors.instructions.instruction import Intent, understand
from convergebench.editors.simulated.account import summary
from convergebench.editors.simulated.additions import aged, kept_fresh
from convergebench.editors.simulated.carry_out import EditResult
from convergebench.editors.simulated.layers import LayeredImage
from convergebench.editors.simulated.memory import read_layered, with_layers
from convergebench.editors.simulated.mistakes import MistakeDraws, Mistakes, carry_out_with
from convergebench.editors.simulated.pixels import Mask, encode_jpeg, encode_png
from convergebench.editors.simulated.wear import KINDS, Wear, WearContext
from convergebench.errors import Refused, Transient
from convergebench.types import Capabilities, Edited, EditRequest, Limits, Resources


@dataclass(frozen=True, slots=True)
class EditorBehaviour:
    """The behaviour of an editor apart from its wear."""

    remember: bool = True
    """Layers keep the pixels they hide; otherwise objects are removed by painting over them."""
    jpeg_quality: int | None = None
    """Answer with JPEG of this quality instead of PNG."""
    forgets: float = 0.0
    """Share of instructions it ignores while it claims success."""
    fails: float = 0.0
    """Probability of a transient error in each of the first `FAILING_ATTEMPTS` attempts."""
    refuses: float = 0.0
    """Share of requests it declines."""
    retry_after: float = 0.0
    """The `retry_after` of its transient errors, in seconds."""
    mistakes: Mistakes = field(default_factory=Mistakes)
    additions: Literal["plain", "fresh", "worn"] = "plain"
    """Wear of added objects: one step (`plain`), none (`fresh`), or as much as the rest (`worn`)."""
    notices: int = 0
    """Steps of wear after which its summary says that the input looks noisy; 0: never."""


FAILING_ATTEMPTS = 2


class _Built(NamedTuple):
    work: Wear
    moves: bool
    random: bool


class SimulatedEditor:
    """Carries out instructions on drawn objects and exact geometry; the seed fixes everything random."""

    def __init__(
        self, name: str, fingerprint: str, *, wears: tuple[dict[str, object], ...], behaviour: EditorBehaviour
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.behaviour = behaviour
        self._wears = tuple(_build(wear) for wear in wears)
        crops = any(wear["kind"] == "crop" for wear in wears)
        # a flaky editor's images are deterministic: only its errors are random
        random = (
            behaviour.forgets > 0 or behaviour.mistakes.random or any(KINDS[str(wear["kind"])].random for wear in wears)
        )
        self.capabilities = Capabilities(
            seed=True,
            resolutions=("1K", "2K", "4K") if crops else (),
            reasoning=True,
            seconds_per_call=0.015,
            simulated=True,
            deterministic=not random,
        )
        self.limits = Limits(at_once=4)
        self.resources = Resources()

    async def edit(self, request: EditRequest) -> Edited:
        """Carry out one instruction; the pixel work runs in a thread."""
        self._maybe_fail(request)
        return await asyncio.to_thread(self._edit, request)

    def _edit(self, request: EditRequest) -> Edited:
        picture = read_layered(request.image)
        intent = understand(request.instruction)
        done = self._carry_out(picture, intent, request.seed)
        worn = self._wear(done.picture, request)
        if self.behaviour.additions == "fresh":
            worn = kept_fresh(done.picture, worn)
        worn = replace(worn, steps=(picture.steps or 0) + 1)
        quality = self.behaviour.jpeg_quality
        data = encode_png(worn.pixels) if quality is None else encode_jpeg(worn.pixels, quality)
        mime = "image/png" if quality is None else "image/jpeg"
        reasoning = self._summary(done, intent, picture.steps or 0) if request.settings.reasoning else done.account
        return Edited(with_layers(data, worn), mime, self.name, reasoning=reasoning)

    def _carry_out(self, picture: LayeredImage, intent: Intent, seed: int) -> EditResult:
        behaviour = self.behaviour
        chances = MistakeDraws(*(_chance(what, seed) for what in ("unturned", "wrong-turn", "which")))
        done = carry_out_with(behaviour.mistakes, picture, intent, remember=behaviour.remember, chances=chances)
        if _chance("forget", seed) < behaviour.forgets:
            return done._replace(picture=picture)
        if behaviour.additions == "worn" and intent.action == "add" and done.picture is not picture:
            steady = [(wear.work, wear.random) for wear in self._wears if not wear.moves]
            return done._replace(picture=aged(done.picture, steady, steps=picture.steps or 0, seed=seed))
        return done

    def _summary(self, done: EditResult, intent: Intent, steps: int) -> str:
        noticed = 0 < self.behaviour.notices <= steps
        return summary(done.account, intent, did=done.did, noticed=noticed)

    def _wear(self, picture: LayeredImage, request: EditRequest) -> LayeredImage:
        for number, wear in enumerate(self._wears):
            context = WearContext(request.seed * 31 + number, picture.steps or 0, request.settings.resolution)
            picture = _worn(picture, wear.work, context, moves=wear.moves)
        return picture

    def _maybe_fail(self, request: EditRequest) -> None:
        if _chance("refuse", request.seed) < self.behaviour.refuses:
            raise Refused(f"{self.name} declines this request (simulated)", reason="simulated-policy")
        passing = request.attempt <= FAILING_ATTEMPTS
        if passing and _chance("fail", request.seed, request.attempt) < self.behaviour.fails:
            raise Transient(f"{self.name} is busy (simulated)", retry_after=self.behaviour.retry_after)


def _worn(picture: LayeredImage, wear: Wear, context: WearContext, *, moves: bool) -> LayeredImage:
    def worn_mask(mask: Mask) -> Mask:
        planes = wear(np.repeat(mask[..., None], 3, axis=2), context)
        return np.where(planes[..., 0] > 127, 255, 0).astype(np.uint8)

    worn = picture.changed(lambda pixels: wear(pixels, context), worn_mask if moves else None)
    # A crop that found nothing to cut moved nothing.
    return replace(worn, face=picture.face) if worn.pixels.shape == picture.pixels.shape else worn


def _build(wear: dict[str, object]) -> _Built:
    kind = KINDS[str(wear["kind"])]
    work = kind.make(**{name: value for name, value in wear.items() if name != "kind"})
    return _Built(work, kind.moves, kind.random)


def _chance(what: str, *numbers: int) -> float:
    """A pseudo-random number in [0, 1), determined by the arguments."""
    text = ":".join((what, *map(str, numbers)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "big") / (1 << 56)
