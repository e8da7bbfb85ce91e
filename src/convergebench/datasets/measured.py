"""The numbers of a step under short names: `ssim` against the source, `ssim_first` against step 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from convergebench.datasets.source import Value

AGAINST_THE_SOURCE = ("source", "return", "around", "alone")
"""Roles of which a step has one at most: those a curve is made of, and of pictures that only an audit wanted rated. The
others are named."""
OF_THE_STEP = ("step", "forward", "backward")
"""Roles of what looks at single steps; a step is either forward or backward."""

Numbers = tuple[dict[str, float | None], list[str]]
"""Name → value, and which have none for which reason."""


class Names:
    """What each measurement of a run is called in its records."""

    def __init__(self, measured: Iterable[tuple[str, str, int]], fingerprints: Mapping[str, str], align: str) -> None:
        roles: dict[str, set[str]] = {}
        measured = list(measured)
        for metric, role, _ in measured:
            roles.setdefault(metric, set()).add(role)
        self._plain = {metric: _plain(found) for metric, found in roles.items()}
        self._fingerprints, self._align = fingerprints, align
        self.keys = sorted({self._key(metric, role, lag) for metric, role, lag in measured})

    def by_step(self, values: Sequence[Value]) -> Callable[[int], Numbers]:
        """What gives the numbers of a step."""
        found: dict[int, dict[str, Value]] = {}
        for value in values:
            if value.align not in (self._align, "none"):
                continue
            # a metric that the manifest names has one fingerprint there; others are told in the table of measurements
            if self._fingerprints.get(value.metric, value.fingerprint) != value.fingerprint:
                continue
            found.setdefault(value.step, {})[self._key(value.metric, value.role, value.lag)] = value

        def numbers(step: int) -> Numbers:
            here = found.get(step, {})
            missing = [
                f"{key}: {_reason(here[key])}" for key in self.keys if key in here and _number(here[key]) is None
            ]
            return {key: _number(here.get(key)) for key in self.keys}, missing

        return numbers

    def _key(self, metric: str, role: str, lag: int) -> str:
        name = metric.replace("-", "_")
        if role in self._plain.get(metric, ()):
            return name
        return f"{name}_lag{lag}" if role == "lag" else f"{name}_{role}"


def _plain(roles: set[str]) -> tuple[str, ...]:
    """The roles that need no word: those against the source or, for what only looks at single steps, those."""
    if roles & {"return", "around"} or not roles & set(OF_THE_STEP):
        return AGAINST_THE_SOURCE
    return ("source", "step") if "step" in roles else ("source", "forward", "backward")


def _number(value: Value | None) -> float | None:
    """JSON knows no infinity, so that an infinite value (PSNR of equal pictures) counts as one without a number."""
    return value.value if value is not None and value.value is not None and math.isfinite(value.value) else None


def _reason(value: Value) -> str:
    if value.value is None:
        return value.status
    return "infinite" if math.isinf(value.value) else "not a number"
