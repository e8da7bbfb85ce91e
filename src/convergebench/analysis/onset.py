"""When a curve begins to fall: the onset step of a chain, and a two-segment fit.

A curve is one metric of one chain, from step 1 on. Step 0 is not part of it: the first step often crops, so the
baseline b is the value of step 1, or of the first step that may be compared with the source.

**Step-to-step noise.** Each value (but the first and last) is compared with the straight line between its two
neighbours; the difference over √(1 + a² + c²), with a and c the neighbours' weights, has the variance of one value
(Gasser, Sroka and Jennen-Steinmetz 1986). σ = 1.4826 × the median absolute difference. Slopes cancel and a break
affects only the values beside it, so a curve that falls from its first step on has the same σ as a flat one.

**Band.** b ± t·√2·σ. √2, because b has noise of its own; t is the 99.5 % point of Student's distribution with as many
degrees of freedom as there are differences, so that 99 % of noise is inside even where σ comes from few steps.

**Onset.** The first step at which the value is outside on the worse side (on either side, for a metric without a better
direction) and stays outside on that side at the next two steps that have a value. Without such a step the chain is
censored at its last value inside the band. Fewer than five values are not enough.

**Breakpoint.** One straight line against two, each of at least three values, which need not meet: BIC with two and five
coefficients (the place of the break is one). `gain` is how much lower BIC is with two; a breakpoint needs a gain above
6, since the best of many places always gains something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import stdtrit

from convergebench.analysis.decay_result import SCHEMAS
from convergebench.analysis.halflife import half_life_text
from convergebench.analysis.series import facts_of_series, parse_series
from convergebench.analysis.survival import kaplan_meier, median, restricted_mean
from convergebench.analysis.trajectories import Floats, Ints, Mask, usable_value
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts
from convergebench.types import Better

FEWEST = 5
"""Fewest values to tell noise from decay."""
CONFIDENCE = 0.99
FEWEST_FOR_TWO = 8
"""Fewest values for a second line; with less it fits nearly anything."""
SEGMENT = 3
STRONG = 6.0
"""BIC gain that is called strong evidence (Kass and Raftery 1995)."""
ROUNDING = 1e-9
"""Differences below this share of the largest value are rounding errors."""

_CHAIN = ("editor", "case", "source", "pair", "category", "replicate")
_NO_CURVE: tuple[Ints, Floats] = (np.array([], dtype=np.int64), np.array([], dtype=np.float64))


class Onset(NamedTuple):
    """The onset of one curve, or why there is none."""

    step: int | None
    """None: censored."""
    last: int
    """Last step with a value; 0 without any."""
    clear: int
    """Last step known to be before the onset."""
    why: str = ""
    """Why there is no onset."""


class Breakpoint(NamedTuple):
    """The step of the break and the gain of two lines over one; None where unknown."""

    step: int | None
    gain: float | None


def onset_of(steps: Ints, values: Floats, better: Better, *, least: float = 0.0) -> Onset:
    """The onset of one curve; steps ascend, NaN and infinite values count as missing.

    `least`: smallest half-width of the band, in units of the metric. For values in coarse units (a judge's marks):
    where more than half of the differences are 0, so is σ.
    """
    there = np.isfinite(values) & (steps >= 1)
    seen, curve = steps[there], values[there]
    if not seen.size:
        same = steps[np.isinf(values) & (steps >= 1)]  # decibels of an unchanged picture
        last = int(same[-1]) if same.size else 0
        return Onset(None, last, last, "unchanged at every step" if last else "no value")
    if seen.size < FEWEST:
        return Onset(None, int(seen[-1]), 0, f"{seen.size} of the {FEWEST} values that are needed")
    away = curve - curve[0]
    band = max(reach(seen, curve), least)
    sides = {"higher": [-away], "lower": [away], "neither": [away, -away]}[better]
    outside = [side > band for side in sides]
    begun = [_lasting(side) for side in outside]
    first = min((int(side.argmax()) for side in begun if side.any()), default=None)
    if first is not None:
        return Onset(int(seen[first]), int(seen[-1]), int(seen[first - 1]))
    # one or two last values outside may be the beginning of an onset: clear only up to the last value inside
    inside = ~np.logical_or.reduce(outside)
    return Onset(None, int(seen[-1]), int(seen[np.flatnonzero(inside)[-1]]), "never outside three times in a row")


def reach(steps: Ints, values: Floats) -> float:
    """Half the width of the band around the baseline; needs three values."""
    point = float(stdtrit(values.size - 2, 0.5 + CONFIDENCE / 2))
    rounding = ROUNDING * float(np.abs(values).max())
    return max(point * 2**0.5 * noise(steps, values), rounding)


def noise(steps: Ints, values: Floats) -> float:
    """σ of step-to-step noise around the local slope; needs three values."""
    left = (steps[2:] - steps[1:-1]) / (steps[2:] - steps[:-2])
    away = values[1:-1] - left * values[:-2] - (1 - left) * values[2:]
    return float(1.4826 * np.median(np.abs(away) / np.sqrt(1 + left**2 + (1 - left) ** 2)))


def break_of(steps: Ints, values: Floats) -> Breakpoint:
    """The two-segment fit of one curve; `step` is the first of the second line."""
    there = np.isfinite(values) & (steps >= 1)
    seen, curve = steps[there].astype(np.float64), values[there]
    if curve.size < FEWEST_FOR_TWO:
        return Breakpoint(None, None)
    height = float(np.ptp(curve))
    if height <= ROUNDING * float(np.abs(curve).max()):
        return Breakpoint(None, -3 * float(np.log(curve.size)))  # one line fits as well as any two
    left_over = _residuals((seen - seen.mean()), (curve - curve.mean()) / height)
    places = np.arange(SEGMENT, curve.size - SEGMENT + 1)
    exact = curve.size * 1e-12  # errors below a millionth of the curve's height count as none
    one = max(float(left_over(np.array([0]), curve.size)[0]), exact)
    two = np.maximum(left_over(np.zeros_like(places), places) + left_over(places, curve.size), exact)
    best = int(two.argmin())
    gain = curve.size * float(np.log(one / two[best])) - 3 * float(np.log(curve.size))
    return Breakpoint(int(seen[places[best]]) if gain > STRONG else None, gain)


def _lasting(outside: Mask) -> Mask:
    """Where three in a row begin."""
    return np.asarray(outside[:-2] & outside[1:-1] & outside[2:])


def _residuals(x: Floats, y: Floats) -> Callable[[Ints, Ints | int], Floats]:
    """Residual sum of squares of a line through values begin … end − 1, as a function of many begins and ends."""
    sums = [np.concatenate([[0.0], np.cumsum(part)]) for part in (np.ones_like(x), x, y, x * x, x * y, y * y)]

    def left_over(begin: Ints, end: Ints | int) -> Floats:
        n, sx, sy, sxx, sxy, syy = (total[end] - total[begin] for total in sums)
        across = sxy - sx * sy / n
        return np.asarray(np.maximum(syy - sy**2 / n - across**2 / (sxx - sx**2 / n), 0.0))

    return left_over


def onsets(
    measurements: pl.DataFrame,
    chains: pl.DataFrame,
    metric: str,
    facts: Mapping[str, MetricFacts],
    *,
    least: float = 0.0,
) -> pl.DataFrame:
    """The frame `onsets`: one row per chain, those without a value included."""
    declared = facts_of_series(metric, facts)
    if declared is None:
        raise StudyError(f"no onset of '{metric}': it was not measured; cbench measure RUN --metric {metric}")
    curves = _curves(measurements, metric)
    rows = []
    for chain in chains.select(*_CHAIN).iter_rows(named=True):
        steps, values = curves.get((chain["editor"], chain["case"]), _NO_CURVE)
        found, second = onset_of(steps, values, declared.better, least=least), break_of(steps, values)
        result = {"onset": found.step, "last": found.last, "breakpoint": second.step, "gain": second.gain}
        rows.append({**chain, "metric": metric, **result, "clear": found.clear, "why": found.why})
    return pl.DataFrame(rows, schema=SCHEMAS["onsets"])


def onset_summary(found: pl.DataFrame, *, confidence: float = 0.95) -> pl.DataFrame:
    """The frame `onset_summary`: Kaplan–Meier median of the onset step, clustered by source image."""
    rows = []
    for (editor, pair, metric), every in found.group_by("editor", "pair", "metric", maintain_order=True):
        # a chain too short for a band is no observation, and must not count as censored
        followed = every.filter(pl.col("onset").is_not_null() | (pl.col("clear") > 0))
        cell = followed if followed.height else every
        happened = cell["onset"].is_not_null().to_numpy()
        times = cell.select(pl.coalesce("onset", "clear")).to_series().to_numpy()
        names, sources = np.unique(cell["source"].to_numpy(), return_inverse=True)
        curve = kaplan_meier(times, happened, clusters=sources, confidence=confidence)
        middle, (_, last) = median(curve), restricted_mean(curve)
        rows.append(
            {
                **{"editor": editor, "pair": pair, "metric": metric, "median": middle.value},
                **{"low": middle.low, "high": middle.high, "text": half_life_text(middle, last)},
                **{"n_cases": cell.height, "n_censored": int((~happened).sum()), "n_sources": names.size},
            }
        )
    return pl.DataFrame(rows, schema=SCHEMAS["onset_summary"])


def _curves(measurements: pl.DataFrame, metric: str) -> dict[tuple[str, str], tuple[Ints, Floats]]:
    """(editor, case) → steps and values; where a step has several rows, the one against the source counts."""
    if not measurements.width:
        return {}
    against = (
        pl.col("role").is_in(["return", "around"]).fill_null(False) if "role" in measurements.columns else pl.lit(0)
    )
    # step 1 compared with itself has no noise: as a baseline it would make every later step an onset
    begin = 2 if parse_series(metric).is_against_first else 1
    rows = (
        measurements.filter((pl.col("metric") == metric) & (pl.col("step") >= begin))
        .select("editor", "case", "step", usable_value().fill_null(np.nan).alias("value"), against.alias("against"))
        .sort("editor", "case", "step", "against", maintain_order=True)
        .unique(["editor", "case", "step"], keep="last", maintain_order=True)
    )
    return {
        (str(editor), str(case)): (cell["step"].to_numpy(), cell["value"].to_numpy())
        for (editor, case), cell in rows.group_by("editor", "case", maintain_order=True)
    }
