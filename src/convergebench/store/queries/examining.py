"""Queries of failure detection: chains step by step, which detectors have run, what a judge has counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from convergebench.store.records import Records
from convergebench.store.tables import CaseRow, ComparisonRow, ProbeRow


class ChainStep(NamedTuple):
    """A step of a chain that gave an image."""

    source: str
    """Image id of the chain's untouched source."""
    editor: str
    case: str
    status: str
    """Of the chain."""
    position: int
    step: str
    parent: str
    image: str
    file: str
    instruction: str
    reasoning: str | None


class StepValue(NamedTuple):
    """A metric's value for one step; None: no value, or not measured."""

    editor: str
    case: str
    fingerprint: str
    """Of the metric."""
    position: int
    value: float | None
    step: str
    parent: str
    instruction: str
    operation: str | None


def cases_by_id(records: Records) -> dict[str, CaseRow]:
    """Every case."""
    return {row.id: row for row in records.table(CaseRow)}


def chain_steps(records: Records) -> Iterator[ChainStep]:
    """Every step with an image, chain by chain; the chains of one source image follow each other."""
    rows = records.query(
        """select c.image, p.editor, p."case", h.status,
             p.position, s.id, s.parent, s.image, i.file, s.instruction, s.reasoning
           from chain_steps p join steps s on s.id = p.step join cases c on c.id = p."case"
           join chains h on h.editor = p.editor and h."case" = p."case" left join images i on i.id = s.image
           where s.status = 'ok' order by c.image, p.editor, p."case", p.position"""
    )
    return (ChainStep(*row) for row in rows)


def comparisons_of(records: Records, *roles: str) -> Iterator[ComparisonRow]:
    """Every comparison of these roles."""
    return records.table(ComparisonRow, f"where role in ({','.join('?' * len(roles))})", roles)


def probes_named(records: Records, probe: str) -> Iterator[ProbeRow]:
    """All values of one probe."""
    return records.table(ProbeRow, "where probe = ?", (probe,))


def step_values(records: Records, metric: str) -> Iterator[StepValue]:
    """A metric's value for each step of every chain that it has measured, chain by chain."""
    # steps without a value are included: they must not pass for steps that went well
    rows = records.query(
        """with measured as (select distinct k.editor, k."case", m.fingerprint from measurements m
                             join comparisons k on k.id = m.comparison and k.role = 'step' where m.metric = ?1)
           select d.editor, d."case", d.fingerprint, k.step, m.value, s.id, s.parent, s.instruction, k.operation
           from measured d join comparisons k on k.editor = d.editor and k."case" = d."case" and k.role = 'step'
           join chain_steps p on p.editor = k.editor and p."case" = k."case" and p.position = k.step
           join steps s on s.id = p.step
           left join measurements m on m.comparison = k.id and m.metric = ?1 and m.fingerprint = d.fingerprint
           order by 1, 2, 3, 4""",
        (metric,),
    )
    return (StepValue(*row) for row in rows)
