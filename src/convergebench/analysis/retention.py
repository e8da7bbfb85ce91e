"""Retention, the share of the image that is left, and the levels at which loss is called noticeable or half.

Retention is 1 for the untouched image. A similarity with a positive self-value has value / self-value (SSIM and CLIP:
the value). A dissimilarity with self-value 0 on a scale that ends, at least for everyday images, at 1 or below has
1 − value (LPIPS, DISTS, GMSD, RMSE). Other metrics (PSNR: no finite self-value; ΔE: no end of scale) have levels but
neither retention nor area.

A picture that cannot be measured because of what the editor did to it (`Trajectories.lost`) has lost everything:
retention 0, past every level. In the mean of a curve it has the value of retention 0, or 0 dB; metrics without an end
of scale leave it out of the mean and count it. Likewise, where the alignment `auto` compares only the visible part of a
crop, the rest counts as lost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from convergebench.analysis.trajectories import Floats, Mask, Trajectories
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts
from convergebench.studies.analysis_settings import AnalysisSettings


def has_retention(facts: MetricFacts | None) -> bool:
    """Whether the metric's values can be turned into retention."""
    if facts is None or facts.self_value is None:
        return False
    if facts.better == "higher":
        return facts.self_value > 0
    ends = (facts.typical or facts.range)[1]
    return facts.better == "lower" and facts.self_value == 0 and ends <= 1


def retention(values: Floats, facts: MetricFacts) -> Floats:
    """The share left, 1 for an untouched image, without a lower limit; NaN stays NaN."""
    if facts.self_value is None or not has_retention(facts):
        raise StudyError(f"{facts.name} has no retention: it lacks a finite self-value on a bounded scale")
    return np.asarray(values / facts.self_value if facts.better == "higher" else 1.0 - values)


def retained(data: Trajectories, metric: str) -> Floats:
    """Retention of every chain at every round, 0 where the picture is lost; NaN where it is unknown."""
    return np.where(data.lost[metric], 0.0, retention(whole_value(data, metric), data.facts[metric]))


def whole_value(data: Trajectories, metric: str) -> Floats:
    """The values for the whole picture: cropped parts have retention 0.

    Metrics without retention keep the value of the area in view.
    """
    values, facts = data.values[metric], data.facts.get(metric)
    if facts is None or facts.self_value is None or not has_retention(facts):
        return values
    kept = retention(values, facts)
    whole = np.where(kept > 0, kept * data.in_view[metric], kept)
    counted = whole * facts.self_value if facts.better == "higher" else 1.0 - whole
    return np.where(data.in_view[metric] < 1, counted, values)


def worst_value(facts: MetricFacts | None) -> float | None:
    """The value of a lost picture in a mean: that of retention 0, or 0 dB; None where the scale has no end."""
    if facts is None:
        return None
    if has_retention(facts):
        return 0.0 if facts.better == "higher" else 1.0
    return 0.0 if facts.unit == "dB" else None


def with_lost(data: Trajectories, metric: str) -> Floats:
    """The values with lost pictures at their worst value, where the metric has one."""
    worst = worst_value(data.facts.get(metric))
    values = whole_value(data, metric)
    return values if worst is None else np.where(data.lost[metric], worst, values)


def levels(facts: MetricFacts | None, settings: AnalysisSettings) -> dict[str, float]:
    """Named levels of a metric, as values of the metric: its own, overridden or extended by the study."""
    if facts is None:
        return {}
    asked: Mapping[str, float] = settings.levels.get(facts.name, {})
    if facts.better == "neither":
        if asked:
            raise StudyError(f"levels.{facts.name}: it has no better direction, so no level; remove it")
        return {}
    own = {"noticeable": facts.noticeable, "half": facts.half}
    named = {**{name: value for name, value in own.items() if value is not None}, **asked}
    for name, value in named.items():
        _check(facts, name, value)
    return named


def passed(values: Floats, threshold: float, facts: MetricFacts) -> Mask:
    """Whether a value is worse than the level; equal is not passed, missing is not passed."""
    return np.asarray(values < threshold if facts.better == "higher" else values > threshold)


def passed_by(threshold: float, other: float, facts: MetricFacts) -> bool:
    """Whether a value at `threshold` is past the level `other`."""
    return bool(passed(np.array([threshold]), other, facts)[0])


def _check(facts: MetricFacts, name: str, value: float) -> None:
    if not math.isfinite(value):
        raise StudyError(f"levels.{facts.name}.{name} = {value}: give a number")
    start = facts.self_value
    if start is not None and passed_by(start, value, facts):
        side = "at most" if facts.better == "higher" else "at least"
        raise StudyError(f"levels.{facts.name}.{name} = {value}: an untouched image is past it; give {side} {start:g}")
