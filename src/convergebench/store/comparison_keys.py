"""Checking the keys of comparisons: each is a hash of its chain and of the steps whose images are compared."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator

from convergebench.ids import comparison_id
from convergebench.store.tables import ComparisonRow

_COMPARED = """select id, editor, "case", role, round, step, lag, subject, reference from comparisons
  where subject in (select id from images) and (reference is null or reference in (select id from images))
  order by editor, "case", step"""
"""Those without an image are counted elsewhere."""
_STEPS = """select s.id, s.image, s.parent, c.position from chain_steps c join steps s on s.id = c.step
  where c.editor = ? and c."case" = ?"""
_SOURCE = "select image from cases where id = ?"


def comparison_faults(connection: sqlite3.Connection, renamed: Collection[str]) -> Iterator[str]:
    """Comparisons whose key does not follow from their chain.

    Those of editors that were renamed are passed over: a key that could not be derived then got another one.
    """
    chain: tuple[str, str] | None = None
    states: dict[str | None, list[str]] = {}
    for cells in connection.execute(_COMPARED):
        row = ComparisonRow(*cells)
        if row.editor in renamed:
            continue
        if (row.editor, row.case) != chain:
            chain = row.editor, row.case
            states = _states(connection, *chain)
        if not _has_own_key(row, states):
            yield f"comparison {str(row.id)[:80]} has other content than its key says"


def _has_own_key(row: ComparisonRow, states: dict[str | None, list[str]]) -> bool:
    known = {"editor": row.editor, "case": row.case, "role": row.role, "lag": row.lag}
    image, other = row.subject, row.reference
    unknown = states.get(None, ())  # steps that have lost their image
    subjects = [*states.get(image, ()), *unknown, image, f"{image}:{row.step}", f"{image}:{row.round}"]
    references: list[str | None] = [None] if other is None else [other, *states.get(other, ()), *unknown]
    try:
        return any(
            row.id == comparison_id(subject=one, reference=two, **known)  # type: ignore[arg-type]
            for one in subjects
            for two in references
        )
    except TypeError:  # a cell of a damaged row
        return False


def _states(connection: sqlite3.Connection, editor: str, case: str) -> dict[str | None, list[str]]:
    """Image → the states of the chain that show it; the source is the parent of the first step."""
    found: dict[str | None, list[str]] = {}
    source = connection.execute(_SOURCE, (case,)).fetchone()
    for step, image, parent, position in connection.execute(_STEPS, (editor, case)):
        found.setdefault(image, []).append(step)
        if position == 1 and source is not None:
            found.setdefault(source[0], []).append(parent)
    return found
