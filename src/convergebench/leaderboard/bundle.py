"""Reading a bundle: documents and tables, typed, with every fault on a line of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convergebench.errors import StudyError
from convergebench.leaderboard.archive import BadArchive, checksums_of
from convergebench.leaderboard.layout import (
    ABOUT,
    BUNDLE_FORMAT,
    CHAIN,
    CHECKSUMS,
    COLUMNS,
    IMAGES_FOLDER,
    KEYS,
    LONGEST_TEXT,
    MANIFEST,
    MOST_ROWS,
    SIGNATURE,
    Row,
    Tables,
    in_order,
    line_of,
    member_of_table,
    row_of,
    strict_json,
)
from convergebench.store.cell_checks import columns_at, row_fault
from convergebench.store.manifest import FORMAT, Manifest
from convergebench.store.manifest_model import require_valid
from convergebench.store.schema import MIGRATIONS

MOST_LISTED = 5
"""Faults of one kind that are listed; the others are counted."""


@dataclass(frozen=True)
class ResultBundle:
    """A bundle that could be read; nothing in it is believed yet."""

    name: str
    """File name, for messages."""
    sha256: str
    members: dict[str, bytes]
    about: dict[str, Any]
    manifest: Manifest
    tables: Tables
    chain: dict[str, Any]
    signature: Any = None
    images: dict[str, bytes] = field(default_factory=dict)
    """Image id → bytes."""


class UnreadableBundle(ValueError):
    """A bundle that cannot be read far enough for other checks; `reasons` has a line each."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


def parse(name: str, members: Mapping[str, bytes], data: bytes) -> ResultBundle:
    """The bundle in these members of a file; `UnreadableBundle` lists what is wrong."""
    faults = checksum_faults(members)
    if faults:
        raise UnreadableBundle(faults)
    about = _document(members, ABOUT)
    if about.get("format") != BUNDLE_FORMAT:
        raise UnreadableBundle(
            [
                f"{ABOUT} has format {str(about.get('format'))[:20]}; this version reads format {BUNDLE_FORMAT} "
                "(a newer bundle needs: pip install -U convergebench)"
            ]
        )
    manifest = _manifest(_document(members, MANIFEST))
    tables: Tables = {}
    for table in COLUMNS:
        rows, bad = _table(table, members[member_of_table(table)])
        tables[table] = rows
        faults += bad
    if faults:
        raise UnreadableBundle(faults)
    return ResultBundle(
        name=name,
        sha256=hashlib.sha256(data).hexdigest(),
        members=dict(members),
        about=about,
        manifest=manifest,
        tables=tables,
        chain=_document(members, CHAIN),
        signature=_document(members, SIGNATURE) if SIGNATURE in members else None,
        images={_identity(one): content for one, content in members.items() if one.startswith(f"{IMAGES_FOLDER}/")},
    )


def checksum_faults(members: Mapping[str, bytes]) -> list[str]:
    """Members that are not what `checksums.sha256` says."""
    listed = members[CHECKSUMS]
    own = {name: data for name, data in members.items() if name not in (CHECKSUMS, SIGNATURE)}
    actual = checksums_of(own)
    if listed == actual:
        return []
    try:
        said = {name: digest for digest, name in (line.split("  ", 1) for line in listed.decode().splitlines())}
    except (ValueError, UnicodeDecodeError):
        return [f"{CHECKSUMS} is not a list of checksums"]
    found = [f"{name} has changed: its checksum is another" for name, data in own.items() if _differs(said, name, data)]
    found += [f"{CHECKSUMS} names {name[:80]!a}, which is not in the bundle" for name in said if name not in own]
    return limited(found or [f"{CHECKSUMS} lists the members in another order or form"])


def _differs(said: Mapping[str, str], name: str, data: bytes) -> bool:
    return said.get(name) != hashlib.sha256(data).hexdigest()


def limited(lines: list[str]) -> list[str]:
    """The first few lines, and how many more there are."""
    more = len(lines) - MOST_LISTED
    return lines if more <= 0 else [*lines[:MOST_LISTED], f"{lines[0].split(':')[0]}: {more} more of this kind"]


def _identity(member: str) -> str:
    return "i1:" + member.removeprefix(f"{IMAGES_FOLDER}/").partition(".")[0]


def _document(members: Mapping[str, bytes], name: str) -> dict[str, Any]:
    try:
        found = strict_json(members[name].decode("utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise UnreadableBundle([f"{name} is not JSON as cbench writes it: {_short(error)}"]) from error
    if not isinstance(found, dict):
        raise UnreadableBundle([f"{name} is not a JSON object"])
    return found


def _manifest(content: dict[str, Any]) -> Manifest:
    if content.get("format") != FORMAT:
        raise UnreadableBundle(
            [f"{MANIFEST} has format {str(content.get('format'))[:20]}; this version reads format {FORMAT}"]
        )
    try:
        require_valid(content, Path(MANIFEST))
        return Manifest(**content)
    except (StudyError, TypeError) as error:
        raise UnreadableBundle([f"{MANIFEST} is not a manifest: {_short(error)}"]) from error


def _table(table: str, data: bytes) -> tuple[list[Row], list[str]]:
    """The rows of a table, and what is wrong with them."""
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return [], [f"table {table} is not UTF-8"]
    if len(lines) > MOST_ROWS:
        return [], [f"table {table} has {len(lines):,} rows; at most {MOST_ROWS:,} are allowed"]
    rows, faults = [], []
    for number, line in enumerate(lines, start=1):
        try:
            row = row_of(line)
            fault = _row_fault(table, row) or ("" if line_of(row) == line else "is not in canonical form")
        except (ValueError, RecursionError, OverflowError) as error:
            row, fault = {}, _short(error)
        if fault:
            faults.append(f"table {table}, row {number}: {fault}")
        rows.append(row)
    if not faults:
        faults += _order_faults(table, rows)
    return rows, limited(faults)


def _row_fault(table: str, row: Row) -> str:
    if tuple(sorted(row)) != tuple(sorted(COLUMNS[table])):
        strange = sorted(set(row) ^ set(COLUMNS[table]))
        return f"has other columns than it should ({strange[0][:40]!a})"
    by_name = {column.name: column for column in columns_at(len(MIGRATIONS))[table]}
    columns = [by_name[name] for name in COLUMNS[table]]
    for name, value in row.items():
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            return f"{name} is longer than {LONGEST_TEXT:,} characters"
        if isinstance(value, bool | dict | list):
            return f"{name} is a {type(value).__name__}"
    return row_fault(table, columns, tuple(row[name] for name in COLUMNS[table]))


def _order_faults(table: str, rows: list[Row]) -> Iterator[str]:
    seen: set[tuple[Any, ...]] = set()
    for number, row in enumerate(rows, start=1):
        key = tuple(row[column] for column in KEYS[table])
        if key in seen:
            yield f"table {table}, row {number}: the same row is there twice"
        seen.add(key)
    if rows != in_order(table, rows):
        yield f"table {table}: its rows are not in their order"


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


__all__ = ["BadArchive", "ResultBundle", "UnreadableBundle", "checksum_faults", "limited", "parse"]
