"""What a result bundle holds: its members, its tables with their columns, and the limits of each."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from convergebench.ids import canonical

BUNDLE_FORMAT = 1
"""Raised whenever a member, a column or the hash chain changes its meaning."""
SUFFIX = ".cbench.zip"

ABOUT, MANIFEST, CARD = "bundle.json", "manifest.json", "README.md"
CHAIN, CHECKSUMS, SIGNATURE = "chain.json", "checksums.sha256", "signature.json"
TABLES_FOLDER, IMAGES_FOLDER = "tables", "images"

COLUMNS: dict[str, tuple[str, ...]] = {
    "images": ("id", "mime", "width", "height", "bytes"),
    "cases": ("id", "source", "image", "kind", "pair", "category", "replicate", "clean"),
    "attempts": (
        *("step", "attempt", "editor", "started", "seconds", "dollars", "outcome", "model", "settled", "part"),
    ),
    "steps": (
        *("id", "parent", "editor", "instruction", "settings", "seed", "replicate", "status", "image", "detail"),
        "draw",
    ),
    "chain_steps": ("editor", "case", "position", "step"),
    "chains": ("editor", "case", "plan", "status", "detail", "rounds", "planned"),
    "comparisons": (
        *("id", "editor", "case", "role", "round", "step", "lag", "subject", "reference", "via", "operation"),
    ),
    "measurements": ("comparison", "metric", "align", "fingerprint", "value", "status", "detail"),
    "anchors": ("source", "anchor", "metric", "fingerprint", "value", "status", "detail"),
}
"""The tables of a bundle in the order of the hash chain, with their columns.

Raw replies, reasoning and error texts of the journal are not part of a bundle: no number depends on them.
"""
KEYS: dict[str, tuple[str, ...]] = {
    "images": ("id",),
    "cases": ("id",),
    "attempts": ("step", "attempt"),
    "steps": ("id",),
    "chain_steps": ("editor", "case", "position"),
    "chains": ("editor", "case"),
    "comparisons": ("id",),
    "measurements": ("comparison", "metric", "align", "fingerprint"),
    "anchors": ("source", "anchor", "metric", "fingerprint"),
}
ORDER: dict[str, tuple[str, ...]] = {**KEYS, "attempts": ("started", "step", "attempt")}
"""The order of the rows of each table: calls in order of time, the others by key."""

Row = dict[str, Any]
Tables = dict[str, list[Row]]

MOST_MEMBERS = 5_000
MOST_BYTES = 400_000_000
"""Largest bundle, packed and unpacked."""
MOST_TEXT_BYTES = 200_000_000
"""Largest table or document."""
MOST_RATIO = 200
"""Most that a member may shrink; tables of numbers shrink 10 to 30 times."""
MOST_ROWS = 2_000_000
LONGEST_TEXT = 4_000
"""Longest text in a cell."""


def member_of_table(table: str) -> str:
    """The member that holds a table: one JSON object per line."""
    return f"{TABLES_FOLDER}/{table}.jsonl"


def fixed_members() -> list[str]:
    """Every member but the images and the signature, in the order in which they are written."""
    return [ABOUT, MANIFEST, CARD, *(member_of_table(name) for name in COLUMNS), CHAIN, CHECKSUMS]


def line_of(row: Mapping[str, Any]) -> str:
    """A row as one line of JSON, the same for the same row; infinite values are written as text."""
    return canonical({name: _plain(value) for name, value in row.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def row_of(line: str) -> Row:
    """The row of a line; `ValueError` if it is not one."""
    row = strict_json(line)
    if not isinstance(row, dict):
        raise ValueError("is not an object")
    value = row.get("value")
    if value in ("Infinity", "-Infinity"):
        row["value"] = math.inf if value == "Infinity" else -math.inf
    return row


def strict_json(text: str) -> Any:
    """Parsed JSON; `ValueError` for a name given twice, NaN and infinity, and for nesting that is too deep."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"has '{name[:40]}' twice")
        found[name] = value
    return found


def _no_constant(word: str) -> Any:
    raise ValueError(f"holds {word}, which is not JSON")


def lines_of(tables: Tables) -> Iterator[tuple[str, str]]:
    """(table, line) of every row, in the order of the hash chain."""
    for name in COLUMNS:
        for row in tables[name]:
            yield name, line_of(row)


def in_order(name: str, rows: list[Row]) -> list[Row]:
    """The rows of a table in the order in which a bundle holds them."""
    return sorted(rows, key=lambda row: tuple(row[column] for column in ORDER[name]))
