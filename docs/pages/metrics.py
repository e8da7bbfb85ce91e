"""`docs/reference/metrics.md`: every metric with the facts declared beside its code, and what its author wrote."""

from __future__ import annotations

import importlib
import inspect

from convergebench.analysis.retention import has_retention
from convergebench.metrics import SETS, load_metric
from convergebench.metrics._table import TABLE
from convergebench.metrics.base import MetricFacts
from docs.pages.markdown import code, table

HEAD = """# Metrics

A metric gives one value per image, or None with a status. It never resizes: alignment is a choice of the study
([alignment](../design/alignment.md)). *Untouched* is the value of an image against itself. *Noticeable* and *half* are
the default levels of the half-life; `[analysis.levels]` in the study file changes them. Metrics with a retention have
an area under the curve and may be part of the score. A range with `~` is the one its authors give for typical images:
values can exceed it and are not clipped. What can run on your machine, and what the others lack:
`cbench list metrics`. How to add one: [add a metric](../add-a-metric.md).
"""


def page() -> str:
    """Sets, then the facts of each metric, then where each comes from, then each in words."""
    facts = [load_metric(name).facts for name in TABLE]
    sets = table(["set", "metrics"], ([code(name), ", ".join(map(code, members))] for name, members in SETS.items()))
    values = table(
        ["metric", "kind", "better", "range", "untouched", "noticeable", "half", "retention", "what it measures"],
        (_row(one) for one in facts),
    )
    origins = table(
        ["metric", "measured on", "aligned first", "extra", "weights", "after", "licence of the code", "version"],
        (
            [
                code(one.name),
                ", ".join(one.roles),
                "yes" if one.aligned else "no",
                ", ".join(map(code, one.needs)),
                ", ".join(map(code, one.weights)),
                one.paper,
                one.licence + (" **noncommercial**" if one.noncommercial else ""),
                one.version,
            ]
            for one in facts
        ),
    )
    words = "\n\n".join(f"### {name}\n\n{_words(name)}" for name in TABLE)
    parts = {"Sets": sets, "Facts": values, "Where they come from": origins, "In words": f"{words}\n"}
    return "\n".join([HEAD, *(f"## {title}\n\n{text}" for title, text in parts.items())])


def _words(name: str) -> str:
    """The docstring of the metric's own file."""
    module = importlib.import_module(TABLE[name].partition(":")[0])
    return inspect.cleandoc(module.__doc__ or "")


def _row(facts: MetricFacts) -> list[str]:
    low, high = facts.typical or facts.range
    numbers = ["" if value is None else f"{value:g}" for value in (facts.self_value, facts.noticeable, facts.half)]
    unit = f" {facts.unit}" if facts.unit else ""
    kept = "yes" if has_retention(facts) and facts.kind not in ("adherence", "diagnostic") else ""
    about = f"{'~' if facts.typical else ''}{low:g} … {high:g}{unit}"
    return [code(facts.name), facts.kind, facts.better, about, *numbers, kept, facts.summary]
