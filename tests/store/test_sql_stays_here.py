"""Queries are written in `store` alone, and nobody asks for all columns of a table by position."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import convergebench

PACKAGE = Path(convergebench.__file__).parent
SQL = re.compile(r"\b(select\b[^.]*\bfrom|insert (or \w+ )?into|delete from|update \w+ set|pragma)\b", re.IGNORECASE)


def faults(source: str) -> Iterator[str]:
    """What in this source talks to a database."""
    tree = ast.parse(source)
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and "connect" in [alias.name for alias in node.names]:
            yield f"{node.lineno}: imports a connection"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            if SQL.search(node.value):
                yield f"{node.lineno}: {node.value.strip()[:40]}"
        elif isinstance(node, ast.JoinedStr) and SQL.search(ast.unparse(node)):
            yield f"{node.lineno}: {ast.unparse(node)[:40]}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            method = node.func.attr
            if method not in ("query", "table", "rows", "connect") and not method.startswith("execute"):
                continue  # writing out every receiver is most of the time
            receiver = ast.unparse(node.func.value)
            reads = method in ("query", "table", "rows") and re.search("journal|records", receiver)
            if reads or method.startswith("execute") or (receiver, method) == ("sqlite3", "connect"):
                yield f"{node.lineno}: {receiver}.{method}("


def test_no_query_stands_outside_the_store() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): list(faults(path.read_text(encoding="utf-8")))
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] != "store"
    }
    assert {file: lines for file, lines in found.items() if lines} == {}


def test_no_query_asks_for_columns_by_position() -> None:
    for path in (PACKAGE / "store").rglob("*.py"):
        if path.name != "schema.py":  # a migration that is released stays as it is
            assert "select *" not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize(
    "source",
    [
        "sqlite3.connect(path)",
        "from convergebench.store.connection import connect",
        "rows = run.journal.query(words)",
        "records.table(StepRow)",
        "cursor.execute(words)",
        "WORDS = 'select id from images'",
        "WORDS = f'select {x} from images'",
    ],
)
def test_the_search_finds_what_it_is_for(source: str) -> None:
    assert list(faults(source))


def test_the_search_passes_over_prose() -> None:
    assert not list(faults('"""Select one from many."""\nframe.select("id").rows()'))
