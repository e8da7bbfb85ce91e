"""How often a limit on `decay` was wrong in the test: untouched photographs refused, remade pictures let through.

The numbers are in `_decay_rates.json`, which the final test of the metric writes; docs/results/decay.md tells how they
were measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from convergebench.errors import Prerequisite

NUMBERS = Path(__file__).with_name("_decay_rates.json")
PAGE = "docs/results/decay.md"
"""Where the test is described."""
USUAL_FALSE_ALARMS = 0.05
"""Share of untouched photographs that a limit may refuse where the user names none."""
TOLD_STEPS = 10
"""Remakings of the pictures that the sentence speaks of."""
_TIMES = {1: "once", 2: "twice", 3: "three times", 5: "five times", 10: "ten times", 20: "twenty times"}


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """A share of the tested pictures, with its 95 % interval; all between 0 and 1."""

    share: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """`4.1 % (2.9–5.8 %)`; from ten per cent on without decimals."""
        digits = 1 if self.share < 0.0995 else 0
        share, low, high = (f"{100 * value:.{digits}f}" for value in (self.share, self.low, self.high))
        return f"{share} % ({low}–{high} %)"


@dataclass(frozen=True, slots=True)
class LimitRates:
    """The error rates of one limit: pictures with a higher value are refused."""

    limit: float
    false_alarms: ErrorRate
    """Untouched photographs that were refused."""
    missed: ErrorRate
    """Pictures that were remade, and passed."""
    missed_by_steps: Mapping[int, ErrorRate] = field(default_factory=dict)
    """The same for pictures that were remade so many times."""

    @property
    def words(self) -> str:
        """The sentence that tells both kinds of errors."""
        steps = self.missed_by_steps.get(TOLD_STEPS)
        remade = f"pictures remade {_TIMES[TOLD_STEPS]}" if steps else "remade pictures"
        return (
            f"At this limit {self.false_alarms.words} of untouched photographs were refused in the test, and "
            f"{(steps or self.missed).words} of {remade} passed."
        )


@dataclass(frozen=True, slots=True)
class DecayRates:
    """Everything that the test found, by ascending limits."""

    version: int
    """Of the metric that was tested."""
    untouched: int
    worn: int
    """How many pictures of each kind were tested."""
    limits: tuple[LimitRates, ...]
    placeholder: bool = False
    """Whether the numbers are invented, to be overwritten by the test."""

    def at(self, limit: float) -> LimitRates | None:
        """The rates of a limit, None outside of the tested range; between two rows the worse one of each rate."""
        below = next((row for row in reversed(self.limits) if row.limit <= limit), None)
        above = next((row for row in self.limits if row.limit >= limit), None)
        if below is None or above is None:
            return None
        return below if below == above else _worse_of(limit, below, above)

    def strictest(self, false_alarms: float) -> LimitRates | None:
        """The lowest limit that refused at most this share of the untouched photographs, None if there is none."""
        return next((row for row in self.limits if row.false_alarms.share <= false_alarms), None)


@cache
def decay_rates(path: Path = NUMBERS) -> DecayRates:
    """The rates of the package; `Prerequisite` if the file is not what it should be."""
    try:
        found = from_document(json.loads(path.read_bytes()))
    except (OSError, KeyError, TypeError, ValueError) as error:
        again = "pip install --force-reinstall convergebench"
        raise Prerequisite(f"{path.name} cannot be used ({error}); install the package again: {again}") from error
    return found


def from_document(document: Mapping[str, Any]) -> DecayRates:
    """The rates of a parsed JSON document; `ValueError` where its numbers cannot be right."""
    rows = tuple(_row(row) for row in document["limits"])
    limits = [row.limit for row in rows]
    if not limits or limits != sorted(set(limits)):
        raise ValueError("its limits do not ascend")
    pictures = document["pictures"]
    return DecayRates(
        int(document["version"]),
        int(pictures["untouched"]),
        int(pictures["worn"]),
        rows,
        placeholder=bool(document.get("placeholder", False)),
    )


def _row(row: Mapping[str, Any]) -> LimitRates:
    by_steps = {int(steps): _rate(rate) for steps, rate in row["missed_by_steps"].items()}
    return LimitRates(float(row["limit"]), _rate(row["false_alarms"]), _rate(row["missed"]), by_steps)


def _rate(numbers: Sequence[float]) -> ErrorRate:
    share, low, high = map(float, numbers)
    if not 0 <= low <= share <= high <= 1:
        raise ValueError(f"{share}, {low}, {high} is not a share with its interval")
    return ErrorRate(share, low, high)


def _worse_of(limit: float, one: LimitRates, other: LimitRates) -> LimitRates:
    both = one.missed_by_steps.keys() & other.missed_by_steps.keys()
    return LimitRates(
        limit,
        _worse(one.false_alarms, other.false_alarms),
        _worse(one.missed, other.missed),
        {steps: _worse(one.missed_by_steps[steps], other.missed_by_steps[steps]) for steps in sorted(both)},
    )


def _worse(one: ErrorRate, other: ErrorRate) -> ErrorRate:
    return max(one, other, key=lambda rate: (rate.share, rate.high))
