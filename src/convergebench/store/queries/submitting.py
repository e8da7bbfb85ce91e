"""Queries of submissions to a leaderboard: whole tables, as rows by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from convergebench.store.records import Records
from convergebench.store.tables import TABLES, columns_of_row


def table_rows(records: Records, table: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every row of a table with these columns."""
    kind = TABLES[table]
    places = [columns_of_row(kind).index(column) for column in columns]
    for row in records.table(kind):
        values = row.values()
        yield {column: values[place] for column, place in zip(columns, places, strict=True)}
