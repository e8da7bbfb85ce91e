"""Queries of rating: what people have said of a run's pictures."""

from __future__ import annotations

from convergebench.store.records import Records
from convergebench.store.tables import RatingRow


def people_ratings(records: Records) -> dict[str, RatingRow]:
    """Every rating by a person, by its id."""
    return {row.id: row for row in records.table(RatingRow, "where source = 'person'")}
