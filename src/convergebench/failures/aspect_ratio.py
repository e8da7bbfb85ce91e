"""Aspect ratio: a step changed the shape of the picture, cut something off, or drew more around it.

The rule. Every picture, turned upright as far as turning was asked for, is compared with the source. Its ratio of width
to height must stay within 0.5 % (or one and a half pixels of the shorter side, whichever is more: sizes are whole
numbers). Where it can be registered (correlation 0.75 or more), less than 3 % of the source's area may be out of view,
and less than 3 % of the picture may lie beyond the source's edges. What has been found once is the new standard: a
later step is a finding of its own only if it goes beyond that by as much again. Another size alone is no failure.

Confidence is ½ at the threshold and grows with the excess over it.

What it cannot see: cuts of pictures that cannot be registered, such as patches, edges or a heavily damaged picture
(their ratio is still looked at); a ratio that was changed by exactly a quarter turn in a chain that asks for turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

from convergebench.errors import Unmeasurable
from convergebench.failures._onset import confidence
from convergebench.failures.base import ChainView, Examination, Finding, detector
from convergebench.images.frame import Frame
from convergebench.images.registration import register

RATIO = 0.005
"""Relative change of width over height that counts as rounding to a codec's or a model's even sizes."""
ROUNDED = 1.5
"""Pixels of the shorter side that rounding may cost."""
AREA = 0.03
"""Share of the area that may be lost, or added around, before the framing counts as changed; a redrawn picture whose
contents each moved by a pixel or two simulates up to 2.5 %."""
SURE = 0.75
"""Correlation below which a registration is not accurate to a hundredth of the area: heavy noise simulates a crop."""
SIDES = ("left", "right", "top", "bottom")


class Framing(NamedTuple):
    """How a picture frames the source; sides are left, right, top, bottom, as shares of its width or height."""

    ratio: float
    """Width over height, over that of the source."""
    rounding: float
    """Largest relative change of `ratio` that whole pixels can explain."""
    sides: tuple[float, float, float, float] | None = None
    """At each side: how much of the source is cut off, or (negative) how much was added around it."""

    @property
    def lost(self) -> float:
        """Share of the source's area that is out of view."""
        left, right, top, bottom = (max(0.0, side) for side in self.sides or (0, 0, 0, 0))
        return 1 - max(0.0, 1 - left - right) * max(0.0, 1 - top - bottom)

    @property
    def added(self) -> float:
        """Area added around the source, as a share of its area."""
        left, right, top, bottom = (max(0.0, -side) for side in self.sides or (0, 0, 0, 0))
        return (1 + left + right) * (1 + top + bottom) - 1


@dataclass(frozen=True, slots=True)
class _Standard:
    """The framing found so far, by which later pictures are judged."""

    ratio: float = 1.0
    lost: float = 0.0
    added: float = 0.0

    def score(self, seen: Framing) -> float:
        """How far a picture exceeds it, in thresholds."""
        tolerance = max(RATIO, seen.rounding)
        return max(
            abs(log(seen.ratio / self.ratio)) / tolerance,
            (seen.lost - self.lost) / AREA,
            (seen.added - self.added) / AREA,
        )


@detector(
    "aspect-ratio",
    level="image",
    title="Aspect ratio or crop",
    rule="width over height changes by more than 0.5 % (or 1.5 pixels), or 3 % of the source's area is cut off or "
    "drawn around",
    paper="Aspect-Ratio Mismatch",
)
def aspect_ratio(chain: ChainView) -> Examination:
    """Changes the shape of the picture or what it shows of the scene."""
    source = chain.frame(0)
    standard = _Standard()
    ratios: dict[int, float] = {}
    losses: dict[int, float] = {}
    findings: list[Finding] = []
    turned = False
    for step in chain.steps[1:]:
        turned = turned or step.operation in ("rotate-90", "rotate-270")
        seen = framing(chain.upright(step.index), source, find_sides=step.compared != "no", turned=turned)
        ratios[step.index] = round(seen.ratio, 5)
        if seen.sides is not None:
            losses[step.index] = round(seen.lost, 5)
        score = standard.score(seen)
        if score >= 1:
            last = chain.frame(step.index)
            findings.append(Finding(step.index, confidence(score), _detail(seen, last, source, standard)))
            standard = _Standard(seen.ratio, max(standard.lost, seen.lost), max(standard.added, seen.added))
    return Examination(tuple(findings), {"ratio": ratios, "area-lost": losses})


def framing(picture: Frame, source: Frame, *, find_sides: bool = True, turned: bool = False) -> Framing:
    """How an upright picture frames the source."""
    ratio = (picture.width / picture.height) / (source.width / source.height)
    if turned and abs(log(ratio)) > abs(log((picture.height / picture.width) / (source.width / source.height))):
        # a rotation that was not done is another failure; with width and height swapped the shape is right
        return Framing((picture.height / picture.width) / (source.width / source.height), _rounding(picture, source))
    return Framing(ratio, _rounding(picture, source), _sides(picture, source) if find_sides else None)


def _rounding(picture: Frame, source: Frame) -> float:
    return ROUNDED / min(*picture.size, *source.size)


def _sides(picture: Frame, source: Frame) -> tuple[float, float, float, float] | None:
    try:
        found = register(picture, source)
    except Unmeasurable:
        return None
    if found.confidence < SURE:
        return None
    across = _beyond(picture.width, source.width, scale=found.scale_x, shift=found.shift_x)
    down = _beyond(picture.height, source.height, scale=found.scale_y, shift=found.shift_y)
    return *across, *down


def _beyond(own: int, whole: int, *, scale: float, shift: float) -> tuple[float, float]:
    """Share of a side before and after the part in view; negative where the view extends beyond it."""
    middle, half = whole / 2 - shift, own / scale / 2
    return (middle - half) / whole, (whole - middle - half) / whole


def _detail(seen: Framing, picture: Frame, source: Frame, standard: _Standard) -> str:
    size = f"{source.width}×{source.height} → {picture.width}×{picture.height}"
    parts = []
    change = exp(abs(log(seen.ratio / standard.ratio))) - 1
    if change > max(RATIO, seen.rounding):
        upright = source.height / source.width
        before, now = upright / standard.ratio, upright / seen.ratio
        parts.append(f"height over width {before:.3f} → {now:.3f} ({size})")
    sides = seen.sides
    if sides is None:
        parts.append("where it was cut cannot be told")
        return "; ".join(parts)
    cut = [f"{side:.1%} {name}" for name, side in zip(SIDES, sides, strict=True) if side >= 0.002]
    drawn = [f"{-side:.1%} {name}" for name, side in zip(SIDES, sides, strict=True) if side <= -0.002]
    if cut:
        parts.append(f"cut off: {', '.join(cut)} ({seen.lost:.1%} of the area)")
    if drawn:
        parts.append(f"drawn around it: {', '.join(drawn)}")
    if not cut and not drawn:
        parts.append("nothing was cut off: the picture was squeezed")
    return "; ".join(parts)
