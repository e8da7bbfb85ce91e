"""`docs/reference/metrics.md`: every metric with the facts declared beside its code."""

from __future__ import annotations

from convergebench.analysis.retention import has_retention
from convergebench.metrics import SETS, load_metric
from convergebench.metrics._table import TABLE
from convergebench.metrics.base import MetricFacts
from docs.pages.markdown import code, table

HEAD = """# Metrics

A metric gives one value per image, or None with a status. It never resizes: alignment is a choice of the study
([alignment](../design/alignment.md)). *Untouched* is the value of an image against itself. *Noticeable* and *half* are
the default levels of the half-life; `[analysis.levels]` in the study file changes them. Metrics with a retention have
an area under the curve and may stand in the score. How to add one: [add a metric](../add-a-metric.md).
"""


def page() -> str:
    """Sets, then the facts of each metric, then where each comes from."""
    facts = [load_metric(name).facts for name in TABLE]
    sets = table(["set", "metrics"], ([code(name), ", ".join(map(code, members))] for name, members in SETS.items()))
    values = table(
        ["metric", "kind", "better", "range", "untouched", "noticeable", "half", "retention", "what it measures"],
        (_row(one) for one in facts),
    )
    origins = table(
        ["metric", "measured on", "aligned first", "after", "licence", "version"],
        (
            [code(one.name), ", ".join(one.roles), "yes" if one.aligned else "no", one.paper, one.licence, one.version]
            for one in facts
        ),
    )
    return f"{HEAD}\n## Sets\n\n{sets}\n## Facts\n\n{values}\n## Where they come from\n\n{origins}"


def _row(facts: MetricFacts) -> list[str]:
    low, high = facts.range
    numbers = ["" if value is None else f"{value:g}" for value in (facts.self_value, facts.noticeable, facts.half)]
    unit = f" {facts.unit}" if facts.unit else ""
    kept = "yes" if has_retention(facts) and facts.kind not in ("adherence", "diagnostic") else ""
    return [code(facts.name), facts.kind, facts.better, f"{low:g} … {high:g}{unit}", *numbers, kept, facts.summary]
