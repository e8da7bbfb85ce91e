"""A value that no column can hold fails its own caller; nobody is told "durable" of rows that are not on the disk."""

from __future__ import annotations

import asyncio
import itertools
import math
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.errors import StudyError, Unstorable
from convergebench.store.cell_checks import columns_at
from convergebench.store.journal import Journal
from convergebench.store.schema import MIGRATIONS
from convergebench.store.tables import TABLES, AttemptRow, TableRow, columns_of_row

HALF = "\ud800"


def attempt(step: str, **changes: Any) -> AttemptRow:
    row = AttemptRow(step, 1, "e", "now", seconds=0.5, dollars=1.0, outcome="ok")
    return replace(row, **changes)


def stored(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    found = {step for (step,) in connection.execute("select step from attempts")}
    connection.close()
    return found


BAD = {
    "a seed of 64 bits": {"attempt": 2**63},
    "a number below the smallest": {"attempt": -(2**63) - 1},
    "half a character": {"model": f"gpt{HALF}"},
    "half a character in an error": {"error": HALF},
    "no number": {"dollars": math.nan},
    "a price that is words": {"dollars": "free"},
    "an empty value": {"outcome": None},
    "a number of another library": {"attempt": np.int64(3)},
    "bytes": {"raw": b"raw"},
    "a list": {"raw": ["raw"]},
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
def test_of_many_concurrent_commits_only_the_bad_one_fails_and_the_others_are_on_the_disk(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    journal = Journal(tmp_path / "run.sqlite")

    async def all_at_once() -> list[BaseException | None]:
        rows = [attempt(f"s{number}", **(change if number == 2 else {})) for number in range(6)]
        return await asyncio.gather(*(journal.commit([row]) for row in rows), return_exceptions=True)

    results = asyncio.run(all_at_once())
    assert [type(result) for result in results] == [type(None)] * 2 + [Unstorable] + [type(None)] * 3
    assert stored(tmp_path / "run.sqlite") == {"s0", "s1", "s3", "s4", "s5"}
    journal.commit_now([attempt("later")])
    journal.close()
    assert "later" in stored(tmp_path / "run.sqlite")


def test_every_table_has_a_class_with_its_columns_in_their_order(tmp_path: Path) -> None:
    columns = columns_at(len(MIGRATIONS))
    assert {name: columns_of_row(row) for name, row in TABLES.items()} == {
        name: tuple(column.name for column in of_table) for name, of_table in columns.items()
    }


def test_what_is_no_row_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.sqlite")
    for row in (("attempts", ("s", 1)), ("attempts; drop table steps", ("s",)), None):
        with pytest.raises(Unstorable, match="is not a row of a table"):
            journal.commit_now([attempt("s"), row])  # type: ignore[list-item]
    journal.close()
    assert stored(tmp_path / "run.sqlite") == set()


class Surprised(Journal):
    """Its checks let a value through that the database then refuses: the second line of defence."""

    def _write_row(self, row: TableRow) -> None:
        if row.values()[0] in ("s1", "s4"):
            raise ValueError("surprise")
        super()._write_row(row)


def test_what_slips_past_the_checks_fails_its_own_caller_too(tmp_path: Path) -> None:
    journal = Surprised(tmp_path / "run.sqlite")

    async def all_at_once() -> list[BaseException | None]:
        work = (journal.commit([attempt(f"s{number}")]) for number in range(6))
        return await asyncio.gather(*work, return_exceptions=True)

    results = asyncio.run(all_at_once())
    journal.close()
    failed = {number for number, result in enumerate(results) if isinstance(result, Unstorable)}
    assert failed == {1, 4}
    assert stored(tmp_path / "run.sqlite") == {"s0", "s2", "s3", "s5"}


class Broken(Journal):
    """The disk fails in the middle of a transaction, in a way that nobody thought of."""

    def _write_row(self, row: TableRow) -> None:
        super()._write_row(row)
        if row.values()[0] == "s3":
            raise MemoryError("no more")


def test_if_the_file_fails_every_caller_of_the_group_hears_it_and_nothing_is_half_written(tmp_path: Path) -> None:
    journal = Broken(tmp_path / "run.sqlite")

    async def all_at_once() -> list[BaseException | None]:
        work = (journal.commit([attempt(f"s{number}")]) for number in range(6))
        return await asyncio.gather(*work, return_exceptions=True)

    results = asyncio.run(all_at_once())
    with pytest.raises(StudyError, match=r"could not write to .* run the same command again"):
        journal.commit_now([attempt("later")])
    journal.close()
    durable = {f"s{number}" for number, result in enumerate(results) if result is None}
    assert "s3" not in durable
    assert stored(tmp_path / "run.sqlite") == durable


ANYTHING = st.one_of(
    st.none(), st.integers(), st.floats(), st.text(st.characters(codec=None)), st.binary(), st.booleans(),
    st.sampled_from([HALF, 2**63, -(2**63), math.inf, np.float64(1.5), np.int64(1)]),
)  # fmt: skip


def test_whatever_a_row_holds_its_caller_is_told_the_truth(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.sqlite")  # one for all examples: making it takes longer than trying them
    steps = (f"s{number}" for number in itertools.count())
    durable: set[str] = set()

    @settings(max_examples=150, deadline=None)
    @given(rows=st.lists(st.lists(ANYTHING, min_size=10, max_size=10), min_size=1, max_size=5))
    def commit(rows: list[list[Any]]) -> None:
        called = dict(zip(steps, rows, strict=False))

        async def all_at_once() -> list[BaseException | None]:
            work = (journal.commit([AttemptRow(step, 1, *values)]) for step, values in called.items())
            return await asyncio.gather(*work, return_exceptions=True)

        results = asyncio.run(all_at_once())
        assert all(result is None or isinstance(result, Unstorable) for result in results)
        durable.update(step for step, result in zip(called, results, strict=True) if result is None)
        assert {step for (step,) in journal.query("select step from attempts")} == durable

    commit()
    journal.close()
    assert stored(tmp_path / "run.sqlite") == durable


def test_the_row_of_a_call_is_settled_once_and_no_cost_is_ever_dropped(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.sqlite")
    journal.commit_now([attempt("s", outcome="unknown", dollars=4.0, settled=0)])
    assert (journal.dollars(), journal.unsettled()) == (4.0, (1, 4.0))
    journal.commit_now([attempt("s", dollars=3.0)])
    assert (journal.dollars(), journal.unsettled()) == (3.0, (0, 0.0))
    journal.commit_now([attempt("s", dollars=0.5)])  # the same number again: another call, not the same one
    journal.commit_now([attempt("s", dollars=0.25, editor="another")])
    assert journal.dollars() == 3.75
    assert list(journal.query("select attempt, dollars from attempts order by 1")) == [(1, 3.0), (2, 0.5), (3, 0.25)]
    journal.close()


def test_rows_of_a_caller_that_was_cancelled_are_written_all_the_same(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.sqlite")

    async def cancelled() -> None:
        task = asyncio.create_task(journal.commit([attempt("s")]))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    journal.close()
    assert stored(tmp_path / "run.sqlite") == {"s"}
