"""Metrics, amounts, intervals and p-values of restoration in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convergebench.analysis.paired import smallest_p
from convergebench.analysis.restoration.paper import METRICS
from convergebench.analysis.restoration.scope import RestorationScope
from convergebench.analysis.wording import counted, span


def title(metric: str) -> str:
    """`PSNR`, `CLIP-IQA`; other metrics as they are typed."""
    return METRICS.get(metric, metric)


def amount(value: float, metric: str, scope: RestorationScope) -> str:
    """`0.42 dB`, `0.031`, `1.3`: with as many digits as the metric's scale needs."""
    unit = scope.facts[metric].unit
    text = f"{value:.{digits(metric, scope)}f}"
    if float(text) == 0 and value != 0:
        text = f"{value:.1g}"
    return f"{text}{f' {unit}' if unit else ''}".replace("-", "−")


def digits(metric: str, scope: RestorationScope) -> int:
    """Decimal places: 2 in dB, 3 on scales of about 1, 1 on scales of about 100."""
    facts = scope.facts[metric]
    low, high = facts.typical or facts.range
    return 2 if facts.unit == "dB" else 3 if high - low <= 5 else 1


def evidence(row: Mapping[str, Any], metric: str, scope: RestorationScope) -> str:
    """` (95%: 0.31–0.52; p = 0.004; 12 photographs)`; what is unknown is left out."""
    low, high = row.get("low"), row.get("high")
    confidence = f"{100 * scope.settings.confidence:.3g}%"
    ends = [] if low is None or high is None else [f"{confidence}: {span(low, high, digits(metric, scope))}"]
    said = [] if row.get("p_holm") is None else [p_text(row["p_holm"])]
    return f" ({'; '.join([*ends, *said, counted(row['n_sources'], 'photograph')])})"


def too_few(photographs: int, tests: int, scope: RestorationScope) -> str:
    """A clause where no outcome of that many tests could be significant; else nothing."""
    least = smallest_p(photographs, scope.settings.exact_sources, scope.settings.permutations)
    if least * tests < scope.level:
        return ""
    return f"; with {counted(photographs, 'photograph')} no outcome could be significant"


def p_text(p: float) -> str:
    """`p < 0.001`, `p = 0.012`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
