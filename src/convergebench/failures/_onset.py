"""The step at which a failure begins, by as few measured steps as possible; three in a row must show it.

In restorations one step is enough, since every round is a result by itself. A score of 1 or more exceeds the threshold.
A failure begins at the first step that exceeds it together with the next two measurable steps. In chains of up to 24
steps every step is measured. In longer ones the first four, a spread and the last three are, and the onset is bisected
between the last step below and the first above the threshold; a failure that comes and goes between two measured steps
is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from convergebench.failures.base import Box, ChainView, Examination, Finding, cannot_tell

IN_A_ROW = 3
"""Consecutive steps required: one alone may be chance (the project's rule for every onset)."""
EVERY = 24
"""Most comparable steps of a chain that is measured at every step."""
SPREAD = 9
"""Steps measured between the first four and the last three of a longer chain."""
MOST = 40
"""Measured steps after which the search ends."""


@dataclass(frozen=True, slots=True)
class StepScore:
    """The measurement of one step."""

    score: float
    """1 is the threshold, more is worse."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Probe → value."""
    detail: str = ""
    region: Box | None = None


MeasureStep = Callable[[int], StepScore | None]
"""Measures a step; None where it cannot be measured."""


class FailureSpan(NamedTuple):
    """The failure's first step, its last (None: until the end) and the one with the highest score."""

    first: int
    last: int | None
    peak: int


def confidence(score: float) -> float:
    """1 − ½^score: a half at the threshold, three quarters at twice that, never quite 1."""
    return round(1 - float(0.5 ** max(0.0, min(score, 30.0))), 3)


def find_onset(chain: ChainView, measure: MeasureStep) -> Examination:
    """Search a chain for the first step from which `measure` exceeds the threshold."""
    steps = [step.index for step in chain.steps[1:] if step.compared != "no"]
    in_a_row = 1 if chain.restores else IN_A_ROW
    if len(steps) < in_a_row:
        return cannot_tell(f"{in_a_row} steps in a row are needed, and {len(steps)} can be compared with the source")
    search = _Search(steps, measure, in_a_row)
    found = search.span()
    tried = search.scores
    measured = {step: score for step, score in sorted(tried.items()) if score is not None}
    probes: dict[str, dict[int, float]] = {}
    for step, score in measured.items():
        for name, value in score.numbers.items():
            probes.setdefault(name, {})[step] = value
    if found is None:
        if len(measured) < max(in_a_row, len(tried) / 2):
            return cannot_tell(f"{len(measured)} of {len(tried)} steps looked at could be measured", probes)
        return Examination(probes=probes)
    shown = measured[found.peak]
    finding = Finding(
        step=found.first,
        confidence=confidence(shown.score),
        detail=shown.detail,
        region=shown.region,
        last=found.last,
        shown=found.peak,
    )
    return Examination(findings=(finding,), probes=probes)


class _Search:
    def __init__(self, steps: Sequence[int], measure: MeasureStep, in_a_row: int) -> None:
        self.steps = steps
        self.measure = measure
        self.in_a_row = in_a_row
        self.scores: dict[int, StepScore | None] = {}

    def span(self) -> FailureSpan | None:
        for position in self._coarse():
            self._score(position)
        measurable = [position for position in self._coarse() if self._score(position) is not None]
        before = -1
        for position in measurable:
            if not self._exceeds(position):
                before = position
                continue
            first = self._bisect(before, position)
            for start in dict.fromkeys((first, position)):
                if self._persists(start):
                    return self._span_from(start)
            if len(self.scores) >= MOST:
                break
        return None

    def _coarse(self) -> list[int]:
        count = len(self.steps)
        if count <= EVERY:
            return list(range(count))
        spread = np.rint(np.geomspace(4, count - 3, SPREAD)).astype(int).tolist()
        return sorted({0, 1, 2, 3, *spread, count - 3, count - 2, count - 1})

    def _score(self, position: int) -> StepScore | None:
        step = self.steps[position]
        if step not in self.scores:
            self.scores[step] = self.measure(step)
        return self.scores[step]

    def _exceeds(self, position: int) -> bool:
        score = self._score(position)
        return score is not None and score.score >= 1

    def _bisect(self, below: int, above: int) -> int:
        """The first position above the threshold, by bisection between one below and one above it."""
        while above - below > 1:
            middle = (below + above) // 2
            if self._exceeds(middle):
                above = middle
            else:
                below = middle
        return above

    def _persists(self, start: int) -> bool:
        """Whether this position and the next measurable ones exceed the threshold, as many as are required."""
        row = 0
        for position in range(start, len(self.steps)):
            if self._score(position) is None:
                continue
            if not self._exceeds(position):
                return False
            row += 1
            if row == self.in_a_row:
                return True
        return False

    def _span_from(self, start: int) -> FailureSpan:
        scores = {step: score.score for step, score in self.scores.items() if score is not None}
        first = self.steps[start]
        above = sorted(step for step, score in scores.items() if step >= first and score >= 1)
        last = None if above[-1] == max(scores) else above[-1]
        return FailureSpan(first, last, max(above, key=scores.__getitem__))
