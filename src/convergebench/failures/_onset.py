"""From which step on a failure is there: few looks, and three steps in a row.

A score of 1 or more is beyond the threshold. A failure is there from the first step whose score, and that of the next
two steps that can be measured, is. Chains of up to 24 steps are looked at step by step. In longer ones the first four,
a spread and the last three are, and the place between the last step without and the first with it is halved until they
are neighbours; what comes and goes between two looks is not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from convergebench.failures.base import Box, ChainView, Examination, Finding, cannot_tell

IN_A_ROW = 3
"""Steps: one alone may be chance (the project's rule for every onset)."""
EVERY = 24
"""Comparable steps up to which each one is looked at."""
SPREAD = 9
"""Looks between the first four and the last three of a longer chain."""
MOST = 40
"""Looks after which nothing more is searched for."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one step shows."""

    score: float
    """1 is the threshold, more is worse."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Probe → value."""
    detail: str = ""
    region: Box | None = None


Read = Callable[[int], Reading | None]
"""A step's reading; None where it cannot be measured."""


class Span(NamedTuple):
    """The failure's first step, its last (None: to the end) and the one that shows it best."""

    first: int
    last: int | None
    peak: int


def confidence(score: float) -> float:
    """1 − ½^score: a half at the threshold, three quarters at twice that, never quite 1."""
    return round(1 - float(0.5 ** max(0.0, min(score, 30.0))), 3)


def examine(chain: ChainView, read: Read) -> Examination:
    """Look along a chain with `read` and say from where on it crosses the threshold."""
    steps = [step.index for step in chain.steps[1:] if step.compared != "no"]
    if len(steps) < IN_A_ROW:
        return cannot_tell(f"{IN_A_ROW} steps in a row are needed, and {len(steps)} can be held against the source")
    search = _Search(steps, read)
    found = search.span()
    seen = search.seen
    measured = {step: reading for step, reading in sorted(seen.items()) if reading is not None}
    probes: dict[str, dict[int, float]] = {}
    for step, reading in measured.items():
        for name, value in reading.numbers.items():
            probes.setdefault(name, {})[step] = value
    if found is None:
        if len(measured) < max(IN_A_ROW, len(seen) / 2):
            return cannot_tell(f"{len(measured)} of {len(seen)} steps looked at could be measured", probes)
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
    def __init__(self, steps: Sequence[int], read: Read) -> None:
        self.steps = steps
        self.read = read
        self.seen: dict[int, Reading | None] = {}

    def span(self) -> Span | None:
        for place in self._coarse():
            self._reading(place)
        looked = [place for place in self._coarse() if self._reading(place) is not None]
        before = -1
        for place in looked:
            if not self._beyond(place):
                before = place
                continue
            first = self._halved(before, place)
            for start in dict.fromkeys((first, place)):
                if self._holds(start):
                    return self._ends(start)
            if len(self.seen) >= MOST:
                break
        return None

    def _coarse(self) -> list[int]:
        count = len(self.steps)
        if count <= EVERY:
            return list(range(count))
        spread = np.rint(np.geomspace(4, count - 3, SPREAD)).astype(int).tolist()
        return sorted({0, 1, 2, 3, *spread, count - 3, count - 2, count - 1})

    def _reading(self, place: int) -> Reading | None:
        step = self.steps[place]
        if step not in self.seen:
            self.seen[step] = self.read(step)
        return self.seen[step]

    def _beyond(self, place: int) -> bool:
        reading = self._reading(place)
        return reading is not None and reading.score >= 1

    def _halved(self, below: int, beyond: int) -> int:
        """The first place that is beyond, going by halves between one that is not and one that is."""
        while beyond - below > 1:
            middle = (below + beyond) // 2
            if self._beyond(middle):
                beyond = middle
            else:
                below = middle
        return beyond

    def _holds(self, start: int) -> bool:
        """Whether this place and the next two that can be measured are beyond."""
        row = 0
        for place in range(start, len(self.steps)):
            if self._reading(place) is None:
                continue
            if not self._beyond(place):
                return False
            row += 1
            if row == IN_A_ROW:
                return True
        return False

    def _ends(self, start: int) -> Span:
        scores = {step: reading.score for step, reading in self.seen.items() if reading is not None}
        first = self.steps[start]
        beyond = sorted(step for step, score in scores.items() if step >= first and score >= 1)
        last = None if beyond[-1] == max(scores) else beyond[-1]
        return Span(first, last, max(beyond, key=scores.__getitem__))
