"""Queries of exports: a run chain by chain, never all at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from convergebench.store.records import Records
from convergebench.store.tables import TABLES, AnswerRow, DecisionRow, ImageRow, LabelRow


class ChainFacts(NamedTuple):
    """A chain: one editor on one case."""

    editor: str
    case: str
    status: str
    source: str
    kind: str
    variant: str
    family: str
    run: int
    """The replicate."""
    picture: ImageRow
    """The untouched source."""

    @property
    def id(self) -> str:
        """What all records of the chain have in common."""
        return f"{self.editor}/{self.case}"


class StepFacts(NamedTuple):
    """One answered step."""

    position: int
    key: str
    parent: str
    instruction: str
    settings: str
    seed: int | None
    status: str
    detail: str
    reasoning: str | None
    used: str | None
    started: str | None
    seconds: float | None
    dollars: float | None
    attempts: int
    model: str | None
    round: int | None
    operation: str | None
    picture: ImageRow | None


class MeasuredValue(NamedTuple):
    """One measurement of one step."""

    step: int
    metric: str
    role: str
    lag: int
    align: str
    value: float | None
    status: str
    detail: str
    fingerprint: str


class MeasuredKind(NamedTuple):
    """A metric and what it compares."""

    metric: str
    role: str
    lag: int


_IMAGE = "i.id, i.file, i.mime, i.width, i.height, i.bytes"


def content_sha256(records: Records) -> str:
    """Hash of every row that the journal holds."""
    found = hashlib.sha256()
    for name in sorted(TABLES):
        found.update(name.encode())
        for row in records.table(TABLES[name]):
            found.update(repr(row.values()).encode())
    return found.hexdigest()


def chains(records: Records) -> Iterator[ChainFacts]:
    """Every chain, by editor, source image, variant and replicate."""
    rows = records.query(
        f"""select h.editor, h."case", h.status, c.source, c.kind, c.pair, c.category, c.replicate, {_IMAGE}
            from chains h join cases c on c.id = h."case" join images i on i.id = c.image
            order by h.editor, c.source, c.pair, c.replicate, h."case" """
    )
    return (ChainFacts._make((*row[:8], ImageRow(*row[8:]))) for row in rows)


def steps(records: Records, editor: str, case: str) -> list[StepFacts]:
    """The answered steps of a chain, in order."""
    rows = records.query(
        f"""select p.position, s.id, s.parent, s.instruction, s.settings, s.seed, s.status, s.detail,
              s.reasoning, s.used, t.started, t.seconds, t.dollars, coalesce(t.attempts, 0), t.model,
              k.round, k.operation, {_IMAGE}
            from chain_steps p join steps s on s.id = p.step left join images i on i.id = s.image
            left join comparisons k on k.editor = p.editor and k."case" = p."case" and k.step = p.position
              and k.role = 'step'
            left join (select a.step, min(a.started) started, sum(a.seconds) seconds, sum(a.dollars) dollars,
                         count(*) attempts, max(a.model) model from attempts a
                       where a.step in (select step from chain_steps where editor = ?1 and "case" = ?2)
                       group by a.step) t on t.step = s.id
            where p.editor = ?1 and p."case" = ?2 order by p.position""",
        (editor, case),
    )
    return [StepFacts._make((*row[:17], None if row[17] is None else ImageRow(*row[17:]))) for row in rows]


def image_counts(records: Records) -> dict[tuple[str, str], int]:
    """(editor, case) → number of returned images."""
    query = """select p.editor, p."case", count(s.image) from chain_steps p join steps s on s.id = p.step
        group by p.editor, p."case" """
    return {(editor, case): count for editor, case, count in records.query(query)}


def smallest_sizes(records: Records) -> dict[tuple[str, str], tuple[int, int]]:
    """(editor, case) → width and height of the image with the shortest side."""
    query = """select p.editor, p."case", min(min(i.width, i.height)), i.width, i.height from chain_steps p
        join steps s on s.id = p.step join images i on i.id = s.image group by p.editor, p."case" """
    return {(editor, case): (width, height) for editor, case, _, width, height in records.query(query)}


def measured_kinds(records: Records, align: str) -> list[MeasuredKind]:
    """Everything that was measured under this alignment, or under none."""
    query = """select distinct m.metric, k.role, k.lag from measurements m join comparisons k on k.id = m.comparison
        where m.align in (?, 'none') order by 1, 2, 3"""
    return [MeasuredKind(*row) for row in records.query(query, (align,))]


def values(records: Records, editor: str, case: str) -> list[MeasuredValue]:
    """Every measurement of a chain, under all alignments."""
    query = """select k.step, m.metric, k.role, k.lag, m.align, m.value, m.status, m.detail, m.fingerprint
        from comparisons k join measurements m on m.comparison = k.id
        where k.editor = ? and k."case" = ? order by k.step, m.metric, k.role, k.lag, m.align, m.fingerprint"""
    return [MeasuredValue(*row) for row in records.query(query, (editor, case))]


def answers(records: Records, editor: str, case: str) -> list[AnswerRow]:
    """What roles replied in a chain, in order."""
    return list(records.table(AnswerRow, 'where editor = ? and "case" = ? order by position, role, id', (editor, case)))


def decisions(records: Records, editor: str, case: str) -> list[DecisionRow]:
    """What the study decided in a chain, in order."""
    return list(records.table(DecisionRow, 'where editor = ? and "case" = ? order by number', (editor, case)))


def labels(records: Records, editor: str, case: str) -> list[LabelRow]:
    """Every failure label of a chain."""
    where = """where editor = ? and "case" = ? order by mode, source, "by", made, step, id"""
    return list(records.table(LabelRow, where, (editor, case)))


def dollars_for_nothing(records: Records) -> float:
    """What replies of roles cost that could not be used: they are in `attempts`, and in no chain."""
    query = """select coalesce(sum(dollars), 0.0) from attempts
        where editor like 'role:%' and outcome not in ('ok', 'refused', 'reused')"""
    return float(next(records.query(query))[0])
