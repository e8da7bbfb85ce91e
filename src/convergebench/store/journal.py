"""The journal: `run.sqlite`, one writer, group commits.

Callers await `commit`; one thread writes all rows queued since its last commit in one durable transaction. When
`commit` returns, the rows are on the disk. A value that a column cannot hold fails only its own caller. If the file
itself cannot be written (disk full, say), this group and every later commit fail with the same reason, so no caller
takes a lost row for a stored one.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from convergebench.errors import StudyError, Unstorable
from convergebench.store.columns import Columns, columns_of, require_storable
from convergebench.store.connection import connect
from convergebench.store.records import Records
from convergebench.store.schema import migrate
from convergebench.store.tables import TABLES, AttemptRow, ChainStatusRow, RatingRow, TableRow, columns_of_row

T = TypeVar("T")

_BAD_VALUE = (
    OverflowError, ValueError, TypeError,
    sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.DataError,
)  # fmt: skip
"""What writing raises when a row is at fault and not the file."""

SETTLED = """on conflict (step, attempt) do update set started = excluded.started, seconds = excluded.seconds,
  dollars = excluded.dollars, outcome = excluded.outcome, error = excluded.error, model = excluded.model,
  raw = excluded.raw, settled = excluded.settled, part = excluded.part
  where attempts.outcome = 'unknown' and attempts.editor = excluded.editor"""
"""How the outcome of a call replaces the row that was written before the call."""

LATEST = """on conflict (id) do update set value = excluded.value, detail = excluded.detail, made = excluded.made
  where excluded.made > ratings.made and excluded.rater = ratings.rater"""
"""How a person's later answer to the same question replaces the earlier one."""


class _Batch:
    """The rows of one caller, and what became of them."""

    def __init__(self, rows: list[TableRow]) -> None:
        self.rows = rows
        self.settled = False
        self.error: Exception | None = None

    def settle(self, error: Exception | None = None) -> None:
        self.settled, self.error = True, error


class Journal(Records):
    """Reads at once, writes in groups."""

    def __init__(self, path: Path) -> None:
        self._write = connect(path)
        try:
            migrate(self._write)
        except sqlite3.Error as error:  # a full disk, say
            self._write.close()
            raise _unwritable(path, error) from error
        except BaseException:
            self._write.close()
            raise
        super().__init__(path)
        self._columns: Columns = columns_of(self._write)
        self._pending: list[_Batch] = []
        self._lock = threading.Lock()
        self._failure: StudyError | None = None
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
        self.commits = 0

    async def commit(self, rows: Iterable[TableRow]) -> None:
        """Return when these rows are durable; `Unstorable` if one of them cannot be."""
        batch = self._queued(rows)
        await asyncio.get_running_loop().run_in_executor(self._writer, self._flush, batch)

    def commit_now(self, rows: Iterable[TableRow]) -> None:
        """The same, for callers without an event loop."""
        self._writer.submit(self._flush, self._queued(rows)).result()

    def rewrite(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Change rows that are there, in one transaction of the writer; for renaming alone, facts are never changed."""
        return self._writer.submit(self._rewritten, work).result()

    def _rewritten(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            self._write.execute("begin immediate")
            found = work(self._write)
            self._write.execute("commit")
        except BaseException as error:
            if self._write.in_transaction:
                self._write.execute("rollback")
            if isinstance(error, sqlite3.OperationalError):  # a full disk, say
                raise _unwritable(self.path, error) from error
            raise
        return found

    def between_commits(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do this in the writer's thread while no transaction is open; for the backup of the journal."""
        return self._writer.submit(work, self._write).result()

    def settle(self) -> None:
        """Write what is pending, of cancelled callers too."""
        with self._lock:
            left, self._pending = self._pending, []
        self._writer.submit(self._written, left).result()

    def require(self, rows: Iterable[TableRow]) -> None:
        """`Unstorable` if one of these could not be committed; worth asking before a call is paid for."""
        for row in rows:
            require_storable(self._columns, row)

    def _queued(self, rows: Iterable[TableRow]) -> _Batch:
        batch = _Batch(list(rows))
        self.require(batch.rows)
        with self._lock:
            self._pending.append(batch)
        return batch

    def _flush(self, mine: _Batch) -> None:
        """Write everything that is queued, then raise the error of this caller's rows, if any."""
        if not mine.settled:
            with self._lock:
                batches, self._pending = self._pending, []
            self._written(batches)
        if mine.error is not None:
            raise mine.error

    def _written(self, batches: Sequence[_Batch]) -> None:
        if self._failure is not None:
            for batch in batches:
                batch.settle(self._failure)
            return
        try:
            self._transaction([row for batch in batches for row in batch.rows])
        except _BAD_VALUE as error:
            if len(batches) == 1:
                batches[0].settle(Unstorable(f"{self.path} cannot hold a value: {error}"))
            else:  # one of them is at fault: write each alone, so that the others are kept
                for batch in batches:
                    self._written([batch])
        except BaseException as error:
            self._failure = _unwritable(self.path, error)
            for batch in batches:
                batch.settle(self._failure)
        else:
            for batch in batches:
                batch.settle()

    def _transaction(self, rows: Sequence[TableRow]) -> None:
        """All of the rows, or none of them."""
        if not rows:
            return
        self._write.execute("begin immediate")
        try:
            for row in rows:
                self._write_row(row)
            self._write.execute("commit")
        except BaseException:
            if self._write.in_transaction:
                self._write.execute("rollback")
            raise
        self.commits += 1

    def _write_row(self, row: TableRow) -> None:
        changed = self._write.execute(_insertion(row.table), row.values()).rowcount
        if isinstance(row, AttemptRow) and changed == 0:  # the number is taken; the cost must not be lost
            self._write_row(replace(row, attempt=1 + self._last(row.step)))

    def _last(self, step: str) -> int:
        """As the writer sees it, inside its transaction."""
        (last,) = self._write.execute("select max(attempt) from attempts where step = ?", (step,)).fetchone()
        return int(last)

    def close(self) -> None:
        """Write what is pending, and close the database."""
        self.settle()
        self._writer.shutdown(wait=True)
        super().close()
        self._write.close()


def _unwritable(path: Path, error: BaseException) -> StudyError:
    return StudyError(
        f"could not write to {path}: {error}; what was written before is safe. Free some disk space or repair it, then "
        f"run the same command again"
    )


@cache
def _insertion(table: str) -> str:
    """How a row of this table is written.

    A chain's row is its present state and is replaced; a call's row is known in full when its answer has come; a rating
    may be changed by the person who gave it; every other row is a fact and is never changed.
    """
    row = TABLES[table]
    columns = columns_of_row(row)
    names, holes = ", ".join(f'"{name}"' for name in columns), ", ".join("?" * len(columns))
    replacing = "or replace " if row is ChainStatusRow else ""
    conflict = {ChainStatusRow: "", AttemptRow: SETTLED, RatingRow: LATEST}.get(row, "on conflict do nothing")
    return f"insert {replacing}into {table} ({names}) values ({holes}) {conflict}"
