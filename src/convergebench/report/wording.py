"""Numbers and names as text for pages: fixed decimals, real minus signs, a reason where a value is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping

from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.analysis.series import facts_of_series, parse_series
from convergebench.metrics.base import MetricFacts

MISSING = "–"

VERDICTS = ("returns", "settles", "cycles", "drifts", "diverges", "too early", "unknown")
"""From best to worst, then the undecided ones; the order in which shares are drawn."""


def number(value: float | None, digits: int = 3) -> str:
    """`0.912`, `∞`, or a dash when there is no value."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def short(value: float | None) -> str:
    """A number in as many digits as it needs: `0.91`, `34.2`, `1 240`."""
    if value is None or not math.isfinite(value):
        return number(value)
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 or size == 0 else 4
    text = f"{value:,.{digits}f}".replace(",", "\u202f").replace("-", "−")
    return text


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """`0.88–0.94`, or nothing."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    joint = "–" if low >= 0 and high >= 0 else " to "
    return f"{number(low, digits)}{joint}{number(high, digits)}"


def percents(low: float | None, high: float | None) -> str:
    """`38–52 %` of two shares, or nothing."""
    return "" if low is None or high is None else interval(100 * low, 100 * high, 0) + " %"


def rounds_interval(low: float | None, high: float | None) -> str:
    """`5–8` rounds; `≥ 5` when the upper end was not reached."""
    if low is None and high is None:
        return ""
    if low is None or high is None:
        return f"≤ {number(high, 0)}" if low is None else f"≥ {number(low, 0)}"
    return number(low, 0) if low == high else interval(low, high, 0)


def percent(share: float | None) -> str:
    """`38 %`, or a dash."""
    return MISSING if share is None or math.isnan(share) else f"{100 * share:.0f} %"


def p_value(p: float | None) -> str:
    """`0.012`, `< 0.001`, or a dash."""
    if p is None or math.isnan(p):
        return MISSING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def grouped(amount: int) -> str:
    """`585`, `5 460`."""
    return f"{amount:,}".replace(",", "\u202f")


def count(amount: int, one: str, many: str | None = None) -> str:
    """`1 chain`, `12 chains`."""
    return f"{grouped(amount)} {one if amount == 1 else many or one + 's'}"


def no_interval(sources: int | None) -> str:
    """Why an estimate has no interval: the number of images, if that is too small."""
    if not sources:
        return ""
    return count(sources, "image") if sources < FEWEST_SOURCES else "no interval"


def no_score(cases: int | None) -> str:
    """Why an editor has no score."""
    return "a part of the score was not measured" if cases else "no case in common with the others"


def middle(text: str, room: int) -> str:
    """The text, with its middle left out when it is longer than `room` characters."""
    if len(text) <= room:
        return text
    tail = max(1, room // 3)
    return f"{text[: max(1, room - tail - 1)]}…{text[-tail:]}"


def better(metric: str, facts: Mapping[str, MetricFacts]) -> str:
    """`↑`, `↓` or nothing: which way is better."""
    known = facts_of_series(metric, facts)
    return {"higher": "↑", "lower": "↓", "neither": ""}[known.better] if known else ""


def axis_title(metric: str, facts: Mapping[str, MetricFacts]) -> str:
    """`psnr, dB (↑ better)`: the metric's name, its unit and which way is better."""
    known = facts_of_series(metric, facts)
    unit = f", {known.unit}" if known and known.unit else ""
    arrow = better(metric, facts)
    series = parse_series(metric, facts)
    name = f"{series.metric} against step 1" if series.is_against_first else metric
    return f"{name}{unit}" + (f" ({arrow} better)" if arrow else "")


def group_name(group: str) -> tuple[str, str]:
    """(`category`, `geometry`) of `category:geometry`; (`all`, `all`) of `all`."""
    kind, _, name = group.partition(":")
    return (kind, name) if name else ("all", "all")
