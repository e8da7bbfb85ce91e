"""A metric from a user's rubric: the `[metric]` table of its file names the field that is the value."""

from __future__ import annotations

from math import inf

from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts
from convergebench.metrics.judged._asked import AskedMetric, ParsedReply
from convergebench.registry import names
from convergebench.rubrics.rubric import Rubric


def metric_from_rubric(rubric: Rubric, path: str) -> AskedMetric:
    """The metric that a rubric's file describes; `path` is the file."""
    table = rubric.metric
    if table is None:
        raise StudyError(f"{path} has no [metric] table, so it is not a metric")
    if rubric.name in names("metrics"):
        raise StudyError(f"{path} is called '{rubric.name}' like an existing metric; rename it")
    (field,) = (field for field in rubric.reply.fields if field.name == table.value)
    assert field.scale is not None
    facts = MetricFacts(
        name=rubric.name,
        kind="no-reference" if rubric.pictures == ("subject",) else "adherence",
        better=table.better,
        range=(-inf, inf) if rubric.reply.unclipped else field.scale,
        typical=field.scale,
        summary=rubric.about or f"{field.about}.",
        roles=table.roles,
        aligned=False,
        licence="as its file says",
        version=rubric.version,
        asks=table.asks,
    )

    def value(reply: ParsedReply) -> float:
        return reply.number(table.value)

    return AskedMetric(facts, dict.fromkeys(table.roles, path), (table.value,), value)
