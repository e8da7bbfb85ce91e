"""Tables fit a terminal of 80 columns, and no word is broken in its middle."""

from __future__ import annotations

import pytest

from convergebench.cli.display import rows_as_text
from tests.cli.in_process import cbench

SHELVES = (
    "editors", "metrics", "suites", "pairs", "studies", "variants", "detectors", "degradations", "edit-types",
    "study-files",
)  # fmt: skip
COMMANDS = [*(("list", shelf) for shelf in SHELVES), ("weights", "list"), ("suite", "list"), ("suite", "show", "quick")]


def table_of(said: str) -> list[str]:
    """The lines up to the remarks, which may hold commands to copy."""
    return said.split("\nneeded before they can run here")[0].split("\nstudy files that")[0].splitlines()


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_table_fits_eighty_columns(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    wide = cbench(*words)
    monkeypatch.setenv("COLUMNS", "80")
    narrow = cbench(*words)
    assert narrow.code == 0, narrow.err
    lines = table_of(narrow.out)
    assert max(map(len, lines)) <= 80, max(lines, key=len)
    whole = set(wide.out.split()) | {"(licence,", "(from:", "in", "a", "wider", "terminal,", "or", "with", "--json)"}
    told = {word.strip("():,") for word in whole}
    assert not [word for line in lines for word in line.split() if word.strip("():,") not in told]


def test_a_table_is_as_wide_as_it_must_be_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    rows = [{"name": "a", "what": "word " * 40}]
    assert len(rows_as_text(rows).splitlines()) == 2
    assert max(map(len, rows_as_text(rows, width=30).splitlines())) <= 30


def test_columns_are_left_out_before_rows_become_lists() -> None:
    rows = [{"name": "n" * 20, "kind": "k" * 20, "note": "some words of it"}]
    kept = rows_as_text(rows, width=40, may_lack=("kind",))
    assert kept.splitlines()[0].split() == ["name", "note"]
    assert kept.endswith("(kind: in a wider terminal, or with --json)")
    listed = rows_as_text(rows, width=40)
    assert listed.splitlines() == ["n" * 20, f"  kind: {'k' * 20}", "  note: some words of it"]


def test_a_word_that_is_longer_than_the_terminal_stays_whole() -> None:
    assert "x" * 50 in rows_as_text([{"a": "b", "c": "x" * 50}], width=20)


def test_an_empty_table() -> None:
    assert rows_as_text([], width=80) == ""
