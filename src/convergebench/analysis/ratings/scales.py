"""The questions that people answer about a picture, and their scales. Other questions and values are not read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

PREFERENCE = "preference"
"""Which of two pictures is better: 1 the left one, 0 the right one, 0.5 a tie."""
CONTROLS = frozenset({"clean", "input"})
"""In place of a method's name: the clean picture, or the degraded one, shown as if it were a result."""


@dataclass(frozen=True, slots=True)
class RatingScale:
    """From `low` to `high`; the page asks for whole numbers, imported ratings may lie between them."""

    low: int
    high: int
    zero_is_best: bool = False

    @property
    def room(self) -> int:
        """From one end to the other."""
        return self.high - self.low

    @property
    def values(self) -> range:
        """The whole numbers of the scale."""
        return range(self.low, self.high + 1)


SCALES: Mapping[str, RatingScale] = {
    "score": RatingScale(0, 5),
    "overall": RatingScale(0, 4),
    "semantics": RatingScale(0, 4),
    "detail": RatingScale(-3, 3, zero_is_best=True),
    "sharpness": RatingScale(-3, 3, zero_is_best=True),
}
"""By question, the most telling first."""


def is_answer(question: str, value: float | None) -> bool:
    """Whether the value is an answer to the question: on its scale, though not necessarily a whole number of it."""
    if value is None or not isfinite(value):
        return False
    if question == PREFERENCE:
        return value in (0.0, 0.5, 1.0)
    scale = SCALES.get(question)
    return scale is not None and scale.low <= value <= scale.high
