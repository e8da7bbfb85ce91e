"""Failure labels: what a rule, a judge or a person says of a chain, as objects and as rows.

A label is never changed or taken away. What counts is the newest word of each voice: a rule's or judge's last look at a
chain, a person's last list. All labels of one look (or list) bear the same `made`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from convergebench.ids import content_hash
from convergebench.store.journal import Records, Row

Voice = Literal["rule", "judge", "person"]
Region = tuple[float, float, float, float]
"""x, y, width, height as shares of the picture, from the upper left corner."""

EVIDENCE = "evidence"
"""The folder of crops in a run directory."""
LOOKED = "examined"
"""The probe that says that a detector has seen a chain up to this step: 1, or 0 if the failure cannot happen in it."""


@dataclass(frozen=True, slots=True)
class Label:
    """One finding, or that there was none. `present` None: it could not be told, `detail` says why."""

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
        """What it says, whoever says it and when."""
        return (self.present, self.step, self.last, self.region, self.detail)


class Evidence(NamedTuple):
    """A crop of the picture that shows a failure, and of the source at the same place where that can be had."""

    after: bytes
    before: bytes | None


def label_id(label: Label, *told: object) -> str:
    """Its key; `told` is what tells it from others of the same voice about this chain and mode."""
    key = [label.editor, label.case, label.mode, label.source, label.by, *told]
    return "l1:" + content_hash(key).removeprefix("d1:")


def evidence_file(identity: str) -> str:
    """Where a label's crop is kept, relative to the run directory."""
    return f"{EVIDENCE}/{identity.removeprefix('l1:')}.png"


def source_crop(evidence: str) -> str:
    """Where the crop of the source lies that belongs to it, if there is one."""
    return evidence.removesuffix(".png") + "-source.png"


def row_of(identity: str, label: Label) -> Row:
    """As a row of the table."""
    values = {field.name: getattr(label, field.name) for field in fields(label)}
    values["region"] = None if label.region is None else json.dumps([round(part, 6) for part in label.region])
    values["present"] = None if label.present is None else int(label.present)
    return ("labels", (identity, *values.values()))


def read_labels(records: Records, source: Voice | None = None) -> Iterator[Label]:
    """Every label ever given, the oldest first; of one voice if one is named."""
    names = ", ".join(f'"{field.name}"' for field in fields(Label))
    where = "where source = ?" if source else ""
    query = f"select {names} from labels {where} order by made, id"
    for row in records.rows(query, (source,) if source else ()):
        label = Label(*row)
        yield replace(
            label,
            present=None if label.present is None else bool(label.present),
            region=None if label.region is None else tuple(json.loads(str(label.region))),
        )


def stamp(records: Records) -> str:
    """The time, and later than every label that is there: the newest one counts, also where a clock is late."""
    now = datetime.now(UTC)
    ((newest,),) = records.rows("select max(made) from labels")
    if newest is not None:
        now = max(now, datetime.fromisoformat(newest) + timedelta(microseconds=1))
    return now.isoformat(timespec="microseconds")
