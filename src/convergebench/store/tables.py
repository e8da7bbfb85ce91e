"""One class per table of `run.sqlite`: what `Journal.commit` takes and what reading gives, by name and typed.

The fields of a class are the columns of its table, in the same order; a test holds the two together. A field with a
default came with a later version of the schema, or is empty in most rows.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of one table; use the class that is named after it."""

    table: ClassVar[str] = ""

    def values(self) -> tuple[Any, ...]:
        """Its cells, in column order."""
        cells: tuple[Any, ...] = _CELLS[self.table](self)
        return cells


def columns_of_row(row: type[TableRow]) -> tuple[str, ...]:
    """The columns of a table, by the class of its rows."""
    return tuple(field.name for field in fields(row))


@dataclass(frozen=True, slots=True)
class ImageRow(TableRow):
    """An image file of the run; `id` is the hash of its bytes, `file` its path inside the run directory."""

    table: ClassVar[str] = "images"
    id: str
    file: str
    mime: str
    width: int
    height: int
    bytes: int

    @property
    def sha256(self) -> str:
        """Of the bytes as received."""
        return self.id.removeprefix("i1:")


@dataclass(frozen=True, slots=True)
class CaseRow(TableRow):
    """What is run: a source image × an edit (`pair`, of a `category`) × a replicate."""

    table: ClassVar[str] = "cases"
    id: str
    source: str
    """Id in its suite."""
    image: str
    kind: str
    pair: str
    category: str
    replicate: int
    clean: str | None = None
    """Image id of the clean reference, for studies whose source is a degraded copy of it."""


@dataclass(frozen=True, slots=True)
class ChainStatusRow(TableRow):
    """How far an editor has come with a case. The only row that is replaced: it is the present state."""

    table: ClassVar[str] = "chains"
    editor: str
    case: str
    plan: str
    """What a finished chain was asked to do, as a hash."""
    status: str
    """open finished refused failed ended stopped."""
    detail: str
    rounds: int
    planned: int

    def has_done(self, plan: str, rounds: int) -> bool:
        """Whether nothing is left to do for this plan; the chain may have more rounds than the plan."""
        if self.planned > rounds:
            return self.rounds >= rounds or self.status in ("finished", "refused", "ended")
        return self.status == "finished" and self.plan == plan


@dataclass(frozen=True, slots=True)
class StepRow(TableRow):
    """An edit that was answered: with an image (`ok`), a refusal (`refused`) or the end of the chain (`ended`)."""

    table: ClassVar[str] = "steps"
    id: str
    """Hash of its history."""
    parent: str
    editor: str
    instruction: str
    settings: str
    """JSON."""
    seed: int | None
    """None: the editor takes none."""
    replicate: int
    status: str
    image: str | None = None
    detail: str = ""
    reasoning: str | None = None
    used: str | None = None
    """JSON: what was sent beside the instruction."""
    draw: int = 0
    """The number of the sample, where one instruction is sampled several times."""


@dataclass(frozen=True, slots=True)
class ChainStepRow(TableRow):
    """The step at a position of a chain; the first position is 1."""

    table: ClassVar[str] = "chain_steps"
    editor: str
    case: str
    position: int
    step: str


@dataclass(frozen=True, slots=True)
class AttemptRow(TableRow):
    """One call: of an editor, of a part of one, or of a role (then `editor` is `role:NAME`).

    A row with the outcome `unknown` is written before the call and completed once; others never change.
    """

    table: ClassVar[str] = "attempts"
    step: str
    """The step, or the id of the question."""
    attempt: int
    editor: str
    started: str
    seconds: float
    dollars: float
    outcome: str
    """ok transient bad-reply refused ended unavailable error reused unknown."""
    error: str = ""
    model: str | None = None
    raw: str | None = None
    settled: bool = True
    """False: it is unknown whether the call is charged."""
    part: str = ""
    """Which part of a composed editor was called; empty for the editor itself."""


@dataclass(frozen=True, slots=True)
class AnswerRow(TableRow):
    """A question to a role, with its reply."""

    table: ClassVar[str] = "answers"
    id: str
    role: str
    payload: str
    """JSON."""
    value: str | None
    """JSON; None when the reply could not be parsed."""
    raw: str
    model: str
    seconds: float
    dollars: float
    editor: str | None = None
    """The chain in which it was asked; None where it belongs to none, or the run is older than this column."""
    case: str | None = None
    position: int | None = None
    """After how many steps of that chain."""


@dataclass(frozen=True, slots=True)
class ComparisonRow(TableRow):
    """What must be measured against what; metrics fill it in with measurements."""

    table: ClassVar[str] = "comparisons"
    id: str
    editor: str
    case: str
    role: str
    round: int
    step: int
    lag: int
    subject: str
    """Image ids, as are `reference` and `via`."""
    reference: str | None = None
    via: str | None = None
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class MeasurementRow(TableRow):
    """What a metric says of a comparison; `value` None: `status` and `detail` say why."""

    table: ClassVar[str] = "measurements"
    comparison: str
    metric: str
    align: str
    fingerprint: str
    value: float | None
    status: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LabelRow(TableRow):
    """A failure label; see `convergebench.store.labels.Label` for the object."""

    table: ClassVar[str] = "labels"
    id: str
    editor: str
    case: str
    mode: str
    level: str
    present: int | None
    """1 seen, 0 looked for and not seen, None undecidable."""
    step: int | None
    last: int | None
    shown: int | None
    region: str | None
    """JSON [x, y, width, height] as shares of the image."""
    evidence: str | None
    confidence: float | None
    source: str
    """rule judge person."""
    by: str
    detail: str
    made: str


@dataclass(frozen=True, slots=True)
class ProbeRow(TableRow):
    """A number that a failure detector worked out for one step of a chain."""

    table: ClassVar[str] = "probes"
    editor: str
    case: str
    step: int
    probe: str
    by: str
    value: float | None


@dataclass(frozen=True, slots=True)
class AnchorRow(TableRow):
    """What a metric says of an image that has nothing to do with the source: `noise`, `grey` or `other`."""

    table: ClassVar[str] = "anchors"
    source: str
    anchor: str
    metric: str
    fingerprint: str
    value: float | None
    status: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PartRow(TableRow):
    """The answer of one part of a composed editor."""

    table: ClassVar[str] = "parts"
    id: str
    step: str
    fingerprint: str
    image: str
    model: str
    reasoning: str | None
    raw: str | None
    used: str
    """JSON."""


@dataclass(frozen=True, slots=True)
class RatingRow(TableRow):
    """A person's or model's rating of one image of a chain; `value` None: not answered."""

    table: ClassVar[str] = "ratings"
    id: str
    editor: str
    case: str
    step: int
    image: str
    question: str
    value: float | None
    rater: str
    """Who rated: a person's name, or a model's."""
    source: str
    """person or role."""
    detail: str
    made: str


@dataclass(frozen=True, slots=True)
class DecisionRow(TableRow):
    """What a study decided in a chain, in order."""

    table: ClassVar[str] = "decisions"
    editor: str
    case: str
    number: int
    """From 1, in the order of the chain."""
    position: int
    """After how many steps of the chain."""
    kind: str
    facts: str
    """JSON."""


TABLES: dict[str, type[TableRow]] = {
    row.table: row
    for row in (
        ImageRow, CaseRow, ChainStatusRow, StepRow, ChainStepRow, AttemptRow, AnswerRow, ComparisonRow, MeasurementRow,
        LabelRow, ProbeRow, AnchorRow, PartRow, RatingRow, DecisionRow,
    )
}  # fmt: skip
"""Every table by its name."""
_CELLS = {name: attrgetter(*columns_of_row(row)) for name, row in TABLES.items()}
