"""A metric whose value is read from the reply to a question.

    @asked("judge-happened", rubrics={"forward": "semantics-forward"}, fields=("carried_out",), asks="judge", …)
    def judge_happened(reply: ParsedReply) -> float:
        return reply.share("carried_out")

The metric names the rubric for each kind of comparison; `measuring.asking` asks the question, once for all
metrics that read it, and passes the reply on. Metrics know nothing of models, servers and keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convergebench.errors import StudyError, Unmeasurable
from convergebench.metrics.base import BY_ITSELF, Item, MetricFacts, Reading
from convergebench.types import Operation


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The fields of one reply, and the scale of each that is a number."""

    fields: Mapping[str, Any]
    scales: Mapping[str, tuple[float, float]]

    def number(self, name: str) -> float:
        """A number as given; raises `Unmeasurable` for null, which means that the judge cannot tell."""
        value = self.fields[name]
        if value is None:
            raise Unmeasurable("cannot-tell", str(self.fields.get("seen", "")))
        return float(value)

    def share(self, name: str) -> float:
        """A number as a share of its scale: 0 at its lower end, 1 at its upper one."""
        low, high = self.scales[name]
        return (self.number(name) - low) / (high - low)


@dataclass(frozen=True, slots=True)
class AskedMetric:
    """A metric whose values are read from replies."""

    facts: MetricFacts
    rubrics: Mapping[str, str]
    """Kind of comparison → the rubric that is asked about it."""
    fields: tuple[str, ...]
    """The fields it reads; a user's rubric in place of a shipped one must have them."""
    function: Callable[[ParsedReply], float] = field(repr=False)
    operations: tuple[Operation, ...] = ()
    """The requested operations of the steps it is asked about; empty: all."""

    def __call__(self, reply: ParsedReply) -> float:
        """The value that a reply gives."""
        return self.function(reply)

    def concerns(self, role: str, operation: str | None) -> bool:
        """Whether it is asked about such a comparison."""
        return self.rubric_for(role) is not None and (not self.operations or operation in self.operations)

    def rubric_for(self, role: str) -> str | None:
        """The rubric for such a comparison; a no-reference metric uses that of `return` for other pictures too."""
        if self.facts.kind == "no-reference" and role in BY_ITSELF:
            return self.rubrics.get(role, self.rubrics.get("return"))
        return self.rubrics.get(role)

    def measure(self, items: Sequence[Item]) -> list[Reading]:
        """Always raises `StudyError`: its values come from a role's replies, not from pixels."""
        raise StudyError(
            f"{self.facts.name} asks a {self.facts.asks}; cbench measure asks for it; it is not computed from pixels"
        )


def asked(
    name: str,
    *,
    rubrics: Mapping[str, str],
    fields: tuple[str, ...],
    asks: str,
    operations: tuple[Operation, ...] = (),
    **facts: Any,
) -> Callable[[Callable[[ParsedReply], float]], AskedMetric]:
    """Declare a function of one `ParsedReply` as the metric `name`; its docstring's first line is the summary."""

    def declare(function: Callable[[ParsedReply], float]) -> AskedMetric:
        summary = (function.__doc__ or "").strip().partition("\n")[0]
        roles: Any = tuple(rubrics)
        declared = MetricFacts(name=name, summary=summary, roles=roles, aligned=False, asks=asks, **facts)
        return AskedMetric(declared, rubrics, fields, function, operations)

    return declare
