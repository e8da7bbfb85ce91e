"""The rows of a run that go into a bundle: what the ranking is computed from, and nothing private."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from convergebench.leaderboard.layout import COLUMNS, LONGEST_TEXT, Row, Tables, in_order
from convergebench.leaderboard.private import cleaned, require_clean
from convergebench.metrics._table import TABLE as BUILT_IN
from convergebench.store.manifest import Manifest
from convergebench.store.queries.submitting import table_rows
from convergebench.store.records import Records

UNCOMPARED = "alone"
"""The role of pictures that only an audit rates."""
READ = ("detail",)
"""Columns that are only read, so that secrets and paths in them can be taken out."""


def submitted_metrics(manifest: Manifest) -> dict[str, str]:
    """Metric → fingerprint, for the metrics of this package; those of plug-ins cannot be checked elsewhere."""
    return {name: identity for name, identity in manifest.metrics.items() if name in BUILT_IN}


def gather(records: Records, manifest: Manifest) -> Tables:
    """Every table of a bundle, in the order of the hash chain."""
    found: Tables = {name: list(table_rows(records, name, columns)) for name, columns in COLUMNS.items()}
    metrics = submitted_metrics(manifest)
    found["comparisons"] = [row for row in found["comparisons"] if row["role"] != UNCOMPARED]
    kept = {row["id"] for row in found["comparisons"]}
    found["measurements"] = [
        row
        for row in found["measurements"]
        if row["comparison"] in kept and row["metric"] in metrics and row["align"] in (manifest.align, "none")
    ]
    found["anchors"] = [row for row in found["anchors"] if row["metric"] in metrics]
    placed = {row["step"] for row in found["chain_steps"]}
    found["steps"] = [row for row in found["steps"] if row["id"] in placed]
    for row in found["attempts"]:
        row["settled"] = int(bool(row["settled"]))
    named = _named_images(found)
    found["images"] = [row for row in found["images"] if row["id"] in named]
    return {name: in_order(name, [_public(name, row) for row in found[name]]) for name in COLUMNS}


def _named_images(tables: Mapping[str, Iterable[Row]]) -> set[str]:
    named = {row["image"] for name in ("cases", "steps") for row in tables[name]}
    named |= {row["clean"] for row in tables["cases"]}
    named |= {row[column] for row in tables["comparisons"] for column in ("subject", "reference", "via")}
    return {str(image) for image in named if image is not None}


def _public(table: str, row: Row) -> Row:
    return {column: _cell(table, column, value) for column, value in row.items()}


def _cell(table: str, column: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if column in READ:
        return cleaned(value[:LONGEST_TEXT])
    return require_clean(value, f"the column {column} of the table {table}")
