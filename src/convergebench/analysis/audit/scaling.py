"""From a metric's own range to 0…100, higher is better, never clipped.

Scaling is for reading, and for holding metrics beside each other. Which gap fails is decided on the raw scores, so no
choice of a range can change it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Literal, NamedTuple

import polars as pl

from convergebench.analysis.audit.settings import AuditSettings
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts
from convergebench.metrics.iqa.typical import PUBLISHED


class Scale(NamedTuple):
    """The range that becomes 0…100, and which way is up."""

    low: float
    high: float
    better: Literal["higher", "lower"]
    ours: bool = False
    """Whether the range comes from the settings and not from the metric's authors."""

    @property
    def origin(self) -> float:
        """The raw score that becomes 0."""
        return self.low if self.better == "higher" else self.high

    @property
    def sign(self) -> float:
        """What turns a raw difference so that more is better."""
        return 1.0 if self.better == "higher" else -1.0

    @property
    def width(self) -> float:
        """Raw units that become 100."""
        return self.high - self.low

    def scaled(self, value: float) -> float:
        """One raw score on 0…100; scores outside the range stay outside."""
        return 100 * (self.sign * (value - self.origin)) / self.width


def scale_of(facts: MetricFacts, settings: AuditSettings) -> Scale:
    """The scale of a metric: the settings' range, else its typical one, else its limits.

    Raises:
        StudyError: it has no direction, or no finite range.
    """
    if facts.better not in ("higher", "lower"):
        raise StudyError(f"{facts.name} has no better direction, so it cannot be audited")
    if facts.name in settings.ranges:
        return Scale(*settings.ranges[facts.name], facts.better, ours=True)
    low, high = facts.typical if facts.typical is not None else facts.range
    if not (isfinite(low) and isfinite(high)):
        raise StudyError(
            f"{facts.name} has no finite range ({low:g} to {high:g}); "
            f'add one under [analysis.audit.ranges], e.g. "{facts.name}" = [0, 100]'
        )
    return Scale(float(low), float(high), facts.better)


def better_of(name: str, facts: Mapping[str, MetricFacts]) -> Literal["higher", "lower", "neither"] | None:
    """The direction of a metric, from its facts or from the published table; None if nobody knows it."""
    if name in facts:
        return facts[name].better
    return PUBLISHED[name].better if name in PUBLISHED else None


def check_settings(settings: AuditSettings) -> None:
    """Refuse settings that have no meaning, before anything is computed."""
    for name, (low, high) in settings.ranges.items():
        if not (isfinite(low) and isfinite(high) and low < high):
            raise StudyError(
                f"[analysis.audit.ranges] {name} = [{low:g}, {high:g}]: give two finite numbers, low first"
            )
    if settings.baseline < 0:
        raise StudyError(f"baseline {settings.baseline}: give 0 (the untouched picture) or a later {settings.by}")
    early = [gap for gap in settings.gaps if gap <= settings.baseline]
    if early:
        raise StudyError(
            f"gap {early[0]} does not come after the baseline {settings.baseline}; give later ones in gaps"
        )
    wrong = [one for one in settings.percentiles if not 0 < one < 100]
    if wrong:
        raise StudyError(f"percentile {wrong[0]:g}: give numbers between 0 and 100 in percentiles")
    if settings.draws < 1 or not 0 < settings.confidence < 1:
        raise StudyError("draws must be at least 1 and confidence between 0 and 1")


def scale_table(scales: Mapping[str, Scale], names: pl.Enum) -> pl.DataFrame:
    """Scales as columns, to be joined to scores."""
    return pl.DataFrame(
        {
            "metric": pl.Series(list(scales), dtype=names),
            "origin": pl.Series([one.origin for one in scales.values()], dtype=pl.Float64),
            "sign": pl.Series([one.sign for one in scales.values()], dtype=pl.Float64),
            "width": pl.Series([one.width for one in scales.values()], dtype=pl.Float64),
        }
    )


def scaled() -> pl.Expr:
    """The column `raw` on 0…100, in a frame that holds the columns of `scale_table`."""
    return 100 * (pl.col("sign") * (pl.col("raw") - pl.col("origin"))) / pl.col("width")
