"""An export part: a table that `cbench export` writes beside the pictures. A study names its parts.

Built-in parts stand in `convergebench.datasets._table`; others come by an entry point of the group
`convergebench.exports`, or as `module:name`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from convergebench.datasets.fields import LABELS, MEASUREMENTS, Table
from convergebench.datasets.source import RunSource
from convergebench.store.manifest import Manifest
from convergebench.store.queries import exporting
from convergebench.store.queries.exporting import ChainFacts, MeasuredValue, StepFacts
from convergebench.store.tables import AnswerRow, DecisionRow, LabelRow


@dataclass(frozen=True)
class ExportedChain:
    """One chain of the exported run; its rows are read on first use."""

    source: RunSource
    facts: ChainFacts

    @property
    def manifest(self) -> Manifest:
        """Of the whole run."""
        return self.source.manifest

    @cached_property
    def steps(self) -> list[StepFacts]:
        """The answered steps, in order."""
        return exporting.steps(self.source.records, self.facts.editor, self.facts.case)

    @cached_property
    def values(self) -> list[MeasuredValue]:
        """Every measurement, under all alignments."""
        return exporting.values(self.source.records, self.facts.editor, self.facts.case)

    @cached_property
    def answers(self) -> list[AnswerRow]:
        """What roles replied to the study's questions, in order."""
        return exporting.answers(self.source.records, self.facts.editor, self.facts.case)

    @cached_property
    def decisions(self) -> list[DecisionRow]:
        """What the study decided, in order."""
        return exporting.decisions(self.source.records, self.facts.editor, self.facts.case)

    @cached_property
    def labels(self) -> list[LabelRow]:
        """Every failure label."""
        return exporting.labels(self.source.records, self.facts.editor, self.facts.case)


@dataclass(frozen=True)
class ExportPart:
    """The columns of a table, and its rows chain by chain.

    `rows` leaves `chain_id` out: it is filled in, and so is `id` where a row has a `step_index`. Keys are taken out of
    all texts. Chains whose licence forbids it are not exported.
    """

    table: Table
    rows: Callable[[ExportedChain], Iterable[Mapping[str, Any]]]


def _measurement_rows(chain: ExportedChain) -> Iterable[Mapping[str, Any]]:
    names = ("metric", "role", "lag", "align", "value", "status", "detail", "fingerprint")
    return ({"step_index": value.step, **{name: getattr(value, name) for name in names}} for value in chain.values)


def _label_rows(chain: ExportedChain) -> Iterable[Mapping[str, Any]]:
    for label in chain.labels:
        row = {name: getattr(label, name) for name in LABELS.columns if name != "chain_id"}
        yield {**row, "present": None if label.present is None else bool(label.present)}


measurements = ExportPart(MEASUREMENTS, _measurement_rows)
labels = ExportPart(LABELS, _label_rows)
