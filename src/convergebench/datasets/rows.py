"""Reading tables of a set: CSV, JSON lines, JSON and Parquet, as plain rows; every fault is a one-line error."""

from __future__ import annotations

import ast
import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.errors import StudyError
from convergebench.images.cells import require_small
from convergebench.images.parquet_bounds import require_plausible_size
from convergebench.images.table_errors import table_errors
from convergebench.sheets import unguarded

Row = dict[str, Any]

csv.field_size_limit(1 << 24)  # lists of instructions and reasoning summaries are long


def columns_of(path: Path) -> frozenset[str]:
    """The columns of a Parquet or CSV table, or the keys of the first JSON line; empty if it cannot be read."""
    try:
        if path.suffix == ".parquet":
            with table_errors(path):
                return frozenset(pl.read_parquet_schema(path))
        with path.open(encoding="utf-8-sig", newline="") as stream:
            if path.suffix == ".csv":
                return frozenset(next(csv.reader(stream), []))
            first = json.loads(stream.readline() or "null")
    except (OSError, ValueError, RecursionError, csv.Error, StudyError):
        return frozenset()
    return frozenset(first) if isinstance(first, dict) else frozenset()


def read_rows(path: Path, columns: Sequence[str] | None = None) -> list[Row]:
    """All rows of a CSV, JSON-lines, JSON (a list of objects) or Parquet file; of Parquet only these columns."""
    try:
        if path.suffix == ".parquet":
            return _parquet(path, columns)
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 text; save it as such") from error
    if path.suffix == ".csv":
        return _csv(path, text)
    return _lines(path, text) if path.suffix in (".jsonl", ".ndjson") else _objects(path, read_json(path))


def read_json(path: Path) -> Any:
    """The content of a JSON file."""
    try:
        return parse_json(path.read_text("utf-8-sig"))
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{path} is not valid JSON ({error}); download the file again") from error


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; a repeated key is an error, since it is ambiguous."""
    return json.loads(text, object_pairs_hook=_each_key_once)


def _each_key_once(pairs: list[tuple[str, Any]]) -> Row:
    found: Row = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {name[:60]!a} appears twice")
        found[name] = value
    return found


def text_list(value: Any, *, what: str) -> list[str]:
    """A list of strings, given as a list or as its JSON or Python literal."""
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise StudyError(f"{what} is not a list: {value[:60]!r}") from error
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise StudyError(f"{what} is not a list of texts: {str(value)[:60]!r}")
    return [" ".join(one.split()) for one in value]


def require_columns(row: Row, columns: Sequence[str], *, what: str) -> None:
    """`StudyError` that names the first missing column."""
    missing = [column for column in columns if column not in row]
    if missing:
        raise StudyError(f"{what} has no column '{missing[0]}' (needed: {', '.join(columns)})")


def require_unicode(value: Any, *, what: str) -> None:
    """Refuse lone surrogates: JSON can express them, but no file, table or page can store them."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise StudyError(f"{what} holds half a character ({error.object[error.start]!a}); rewrite it") from error
    except RecursionError as error:
        raise StudyError(f"{what} is nested too deep; rewrite it") from error


def _parquet(path: Path, columns: Sequence[str] | None) -> list[Row]:
    with table_errors(path):
        table = pl.scan_parquet(path)
        there = table.collect_schema().names()
        chosen = there if columns is None else [column for column in columns if column in there]
        require_plausible_size(path, chosen)
        return require_small(table.select(chosen).collect(), str(path)).to_dicts()


def _csv(path: Path, text: str) -> list[Row]:
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        rows = list(reader)
    except csv.Error as error:
        raise StudyError(f"{path} is not valid CSV ({error})") from error
    names = reader.fieldnames or ()
    if len(set(names)) < len(names):
        raise StudyError(f"{path} has two columns with the same name; rename one")
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise StudyError(f"{path}, line {number}: different columns than the header; fix the line")
    return [{name: unguarded(cell) for name, cell in row.items()} for row in rows]


def _lines(path: Path, text: str) -> list[Row]:
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):  # other line breaks may stand inside a text
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except (ValueError, RecursionError) as error:
            raise StudyError(f"{path}, line {number}: not valid JSON ({error})") from error
        if not isinstance(row, dict):
            raise StudyError(f"{path}, line {number}: should be an object, not {type(row).__name__}")
        rows.append(row)
    return rows


def _objects(path: Path, content: Any) -> list[Row]:
    if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
        raise StudyError(f"{path} should be a list of objects")
    return content
