"""Axes: from data to page coordinates, with round numbers at the ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from convergebench.metrics.base import MetricFacts


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight (or, if `log`, logarithmic) map of [low, high] onto [start, end]."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The coordinate of a value; values outside are clipped to the ends."""
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        at = math.log(max(value, self.low)) if self.log else value
        share = 0.5 if high == low else (at - low) / (high - low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers (steps of 1, 2, 2.5 or 5) inside [low, high], about `count` of them."""
    if not high > low:
        return [low]
    rough = (high - low) / max(1, count)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]


def whole_ticks(high: int, count: int = 10) -> list[int]:
    """Round whole numbers from 0 to `high`, 0 and `high` included."""
    step = next((size for size in (1, 2, 5, 10, 20, 25, 50, 100, 200, 500) if high / size <= count), max(1, high))
    marks = list(range(0, high + 1, step))
    if marks[-1] != high:
        if high - marks[-1] < step * 0.6 and len(marks) > 1:
            marks.pop()
        marks.append(high)
    return marks


LEAST_SHARE = 0.05
"""Least span of an axis as a share of its numbers: 579 and 580 pixels look equal to a reader."""
LEAST_IN_UNIT = {"px": 2.0, "a*": 2.0, "b*": 2.0, "C*": 2.0, "ΔE": 2.0, "dB": 5.0}
"""Least span by unit, near the visible difference."""
LEAST_OF_RANGE = 0.02
"""Least span of a metric between 0 (or −1) and 1."""


def least_span(facts: MetricFacts | None) -> float:
    """The least span of an axis of this metric."""
    if facts is None:
        return 0.0
    if facts.unit in LEAST_IN_UNIT:
        return LEAST_IN_UNIT[facts.unit]
    return LEAST_OF_RANGE if facts.range in ((0.0, 1.0), (-1.0, 1.0)) else 0.0


def span(
    values: Iterable[float | None], *, include: Sequence[float] = (), pad: float = 0.04, least: float = 0.0
) -> tuple[float, float]:
    """The range of the finite values and of `include`, a little widened; (0, 1) if there are none.

    It spans at least `least` and a twentieth of the largest number, so that a curve from 0.9991 to 0.9999 does not
    look like a collapse. Where all values are on one side of `include`, the range is extended on that side.
    """
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if not finite and not include:
        return 0.0, 1.0
    low, high = min((*finite, *include)), max((*finite, *include))
    lacking = max(least, LEAST_SHARE * max(abs(low), abs(high))) - (high - low)
    if lacking > 0:
        below, above = (bool(finite) and bool(include) and side for side in (high in include, low in include))
        share = 0.5 if below == above else 1.0 if below else 0.0
        low, high = low - lacking * share, high + lacking * (1 - share)
    room = (high - low) * pad if high > low else 0.5
    return low - room, high + room


def within(limits: tuple[float, float], low: float, high: float) -> tuple[float, float]:
    """The limits shifted, not shrunk, into [low, high]; unchanged where they do not fit."""
    start, stop = limits
    if stop - start > high - low:
        return limits
    moved = max(0.0, low - start) - max(0.0, stop - high)
    return start + moved, stop + moved


def tick_text(value: float, marks: Sequence[float]) -> str:
    """A tick's number, with the decimals that the step between ticks needs."""
    step = min((abs(b - a) for a, b in pairwise(marks)), default=abs(value) or 1)
    digits = 0 if step >= 1 else min(6, max(0, math.ceil(-math.log10(step) - 1e-9)))
    if step and abs(step * 10**digits - round(step * 10**digits)) > 1e-6:
        digits += 1
    shown = f"{value:.{digits}f}"
    return shown.replace("-", "−") if float(shown) else shown.lstrip("-")
