"""The numbers of a step under short names: `ssim` against the source, `ssim_first` against step 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from convergebench.store.queries.exporting import MeasuredKind, MeasuredValue

AGAINST_THE_SOURCE = ("source", "return", "around", "alone")
"""Roles whose measurements need no suffix: a step has at most one of them."""
OF_THE_STEP = ("step", "forward", "backward")
"""Roles of comparisons with the parent step; a step is either forward or backward."""

Numbers = tuple[dict[str, float | None], list[str]]
"""Name → value, and the reasons for missing values."""


class MeasurementNames:
    """The column names of a run's measurements."""

    def __init__(self, measured: Iterable[MeasuredKind], fingerprints: Mapping[str, str], align: str) -> None:
        roles: dict[str, set[str]] = {}
        measured = list(measured)
        for metric, role, _ in measured:
            roles.setdefault(metric, set()).add(role)
        self._plain = {metric: _plain(found) for metric, found in roles.items()}
        self._fingerprints, self._align = fingerprints, align
        self.keys = sorted({self._key(metric, role, lag) for metric, role, lag in measured})

    def by_step(self, values: Sequence[MeasuredValue]) -> Callable[[int], Numbers]:
        """A function from step to its numbers."""
        found: dict[int, dict[str, MeasuredValue]] = {}
        for value in values:
            if value.align not in (self._align, "none"):
                continue
            # of a metric in the manifest only the current fingerprint; the table of measurements has all
            if self._fingerprints.get(value.metric, value.fingerprint) != value.fingerprint:
                continue
            found.setdefault(value.step, {})[self._key(value.metric, value.role, value.lag)] = value

        def numbers(step: int) -> Numbers:
            own = found.get(step, {})
            missing = [f"{key}: {_reason(own[key])}" for key in self.keys if key in own and _number(own[key]) is None]
            return {key: _number(own.get(key)) for key in self.keys}, missing

        return numbers

    def _key(self, metric: str, role: str, lag: int) -> str:
        name = metric.replace("-", "_")
        if role in self._plain.get(metric, ()):
            return name
        return f"{name}_lag{lag}" if role == "lag" else f"{name}_{role}"


def _plain(roles: set[str]) -> tuple[str, ...]:
    """The roles without a suffix: those against the source or, for metrics of single steps, those of steps."""
    if roles & {"return", "around"} or not roles & set(OF_THE_STEP):
        return AGAINST_THE_SOURCE
    return ("source", "step") if "step" in roles else ("source", "forward", "backward")


def _number(value: MeasuredValue | None) -> float | None:
    """JSON has no infinity, so an infinite value (PSNR of equal pictures) becomes None."""
    return value.value if value is not None and value.value is not None and math.isfinite(value.value) else None


def _reason(value: MeasuredValue) -> str:
    if value.value is None:
        return value.status
    return "infinite" if math.isinf(value.value) else "not a number"
