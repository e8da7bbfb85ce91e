"""Every column of every table is explained, and no explanation is of a column that is gone."""

from __future__ import annotations

from pathlib import Path

import convergebench as cb
from docs.pages.tables import MEANINGS, TABLES, meaning
from tests.api.parts import quick_run

COLUMNS = {(name, column) for _, tables in TABLES.values() for name, columns in tables.items() for column in columns}


def test_every_column_has_a_meaning() -> None:
    assert [place for place in sorted(COLUMNS) if not meaning(*place)] == []


def test_no_meaning_is_of_a_column_that_is_gone() -> None:
    columns = {column for _, column in COLUMNS}
    gone: list[object] = [column for column in MEANINGS["all"] if column not in columns]
    gone += [
        (name, column)
        for name in MEANINGS
        if name != "all"
        for column in MEANINGS[name]
        if (name, column) not in COLUMNS
    ]
    assert gone == []


def test_the_tables_of_a_run_have_these_columns_and_no_others(tmp_path: Path) -> None:
    run = quick_run(tmp_path / "run", rounds=1)
    documented = {
        name: set(columns)
        for title, (_, tables) in TABLES.items()
        if title in ("A run", "The comparison of editors")
        for name, columns in tables.items()
    }
    for name, frame in run.tables.items():
        assert set(frame.columns) == documented[name], name
    assert set(cb.compare(run, run).columns) == set(TABLES["Calls"][1]["compare"])
