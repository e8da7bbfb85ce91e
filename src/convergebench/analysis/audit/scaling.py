"""From a metric's own range to 0…100, higher is better, never clipped.

Scaling makes metrics comparable in tables. Whether a gap fails is decided on the raw scores, so the choice of a range
cannot change it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Literal, NamedTuple

import polars as pl

from convergebench.analysis.audit.settings import RANGES
from convergebench.analysis.schemas import F, T
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts
from convergebench.metrics.iqa.published import PUBLISHED
from convergebench.studies.analysis_settings import AuditSettings


class ScoreScale(NamedTuple):
    """The range that becomes 0…100, and the better direction."""

    low: float
    high: float
    better: Literal["higher", "lower"]
    ours: bool = False
    """Whether the range comes from the settings instead of the metric's authors."""

    @property
    def origin(self) -> float:
        """The raw score that becomes 0."""
        return self.low if self.better == "higher" else self.high

    @property
    def sign(self) -> float:
        """The factor that makes a higher raw difference better."""
        return 1.0 if self.better == "higher" else -1.0

    @property
    def width(self) -> float:
        """Raw units that become 100."""
        return self.high - self.low

    def scaled(self, value: float) -> float:
        """One raw score on 0…100; scores outside the range stay outside."""
        return 100 * (self.sign * (value - self.origin)) / self.width


def scale_of(facts: MetricFacts, settings: AuditSettings) -> ScoreScale:
    """The scale of a metric: the settings' range, else its typical one, else its limits.

    Raises:
        StudyError: it has no direction, or no finite range.
    """
    if facts.better not in ("higher", "lower"):
        raise StudyError(f"{facts.name} has no better direction, so it cannot be audited")
    ranges = {**RANGES, **settings.ranges}
    if facts.name in ranges:
        return ScoreScale(*ranges[facts.name], facts.better, ours=True)
    low, high = facts.typical if facts.typical is not None else facts.range
    if not (isfinite(low) and isfinite(high)):
        raise StudyError(
            f"{facts.name} has no finite range ({low:g} to {high:g}); "
            f'add one under [analysis.audit.ranges], e.g. "{facts.name}" = [0, 100]'
        )
    return ScoreScale(float(low), float(high), facts.better)


def better_of(name: str, facts: Mapping[str, MetricFacts]) -> Literal["higher", "lower", "neither"] | None:
    """The direction of a metric, from its facts or from the published table; None if it is unknown."""
    if name in facts:
        return facts[name].better
    return PUBLISHED[name].better if name in PUBLISHED else None


def scale_table(scales: Mapping[str, ScoreScale], names: pl.Enum) -> pl.DataFrame:
    """Scales as columns, to be joined to scores."""
    rows = [(name, one.origin, one.sign, one.width) for name, one in scales.items()]
    frame = pl.DataFrame(rows, schema={"metric": T, "origin": F, "sign": F, "width": F}, orient="row")
    return frame.with_columns(pl.col("metric").cast(names))


def scaled() -> pl.Expr:
    """The column `raw` on 0…100, in a frame that holds the columns of `scale_table`."""
    return 100 * (pl.col("sign") * (pl.col("raw") - pl.col("origin"))) / pl.col("width")
