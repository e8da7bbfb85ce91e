"""Failure labels: what a rule, a judge or a person finds in a chain, as objects and as rows.

A label is never changed or removed; the newest examination of a chain by each labeller counts. All labels of one
examination have the same `made`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

from convergebench.ids import content_hash
from convergebench.store.records import Records
from convergebench.store.tables import LabelRow

Voice = Literal["rule", "judge", "person"]
Region = tuple[float, float, float, float]
"""x, y, width, height as shares of the picture, from the upper left corner."""

EVIDENCE = "evidence"
"""The folder of crops in a run directory."""
LOOKED = "examined"
"""The probe that marks a chain as examined by a detector up to this step: 1, or 0 if the failure cannot occur."""


@dataclass(frozen=True, slots=True)
class Label:
    """One finding, or that there was none. `present` None: undecidable, `detail` says why."""

    editor: str
    case: str
    mode: str
    level: str
    present: bool | None
    step: int | None
    last: int | None
    shown: int | None
    region: Region | None
    evidence: str | None
    confidence: float | None
    source: Voice
    by: str
    detail: str
    made: str

    def says(self) -> tuple[object, ...]:
        """The finding without its labeller and time."""
        return (self.present, self.step, self.last, self.region, self.detail)


class Evidence(NamedTuple):
    """A crop of the picture that shows a failure, and of the source at the same place where that can be had."""

    after: bytes
    before: bytes | None


def label_id(label: Label, *more: object) -> str:
    """Its key; `more` distinguishes labels of one labeller for the same chain and mode."""
    key = [label.editor, label.case, label.mode, label.source, label.by, *more]
    return "l1:" + content_hash(key).removeprefix("d1:")


def evidence_file(identity: str) -> str:
    """Where a label's crop is kept, relative to the run directory."""
    return f"{EVIDENCE}/{identity.removeprefix('l1:')}.png"


def source_crop(evidence: str) -> str:
    """Where the matching crop of the source is kept, if there is one."""
    return evidence.removesuffix(".png") + "-source.png"


def row_of(identity: str, label: Label) -> LabelRow:
    """As a row of the table."""
    cells = {field.name: getattr(label, field.name) for field in fields(label)}
    cells["region"] = None if label.region is None else json.dumps([round(part, 6) for part in label.region])
    cells["present"] = None if label.present is None else int(label.present)
    return LabelRow(identity, **cells)


def read_labels(records: Records, source: Voice | None = None) -> Iterator[Label]:
    """Every label ever given, the oldest first; those of one kind of labeller if `source` is given."""
    where = "where source = ? " if source else ""
    for row in records.table(LabelRow, f"{where}order by made, id", (source,) if source else ()):
        cells: dict[str, Any] = {field.name: getattr(row, field.name) for field in fields(Label)}
        cells["present"] = None if row.present is None else bool(row.present)
        cells["region"] = None if row.region is None else tuple(json.loads(row.region))
        yield Label(**cells)


def stamp(records: Records) -> str:
    """The current time, but always later than every stored label: the newest counts, even if a clock is slow."""
    now = datetime.now(UTC)
    ((newest,),) = records.query("select max(made) from labels")
    if newest is not None:
        now = max(now, datetime.fromisoformat(newest) + timedelta(microseconds=1))
    return now.isoformat(timespec="microseconds")
