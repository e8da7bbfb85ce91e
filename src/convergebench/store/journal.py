"""The journal: `run.sqlite`, one writer, group commits.

Callers hand over rows and await them; one thread writes whatever has gathered since its last commit in one durable
transaction. When `commit` returns, the rows are on the disk. If a commit fails (disk full, say), the journal is
closed for writing: every later commit fails with the same reason, so no caller can believe a lost row.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from convergebench.errors import StudyError
from convergebench.store.schema import migrate

Row = tuple[str, Sequence[Any]]
"""A table name with its values in column order (inserted, or left as it is if the key is there)."""


class ChainRow(NamedTuple):
    """How far a chain has come."""

    plan: str
    status: str
    rounds: int
    planned: int

    def has_done(self, plan: str, rounds: int) -> bool:
        """Whether it came to its end as this plan wants; a plan of fewer rounds wants nothing of one that has them."""
        if self.planned > rounds:
            return self.rounds >= rounds or self.status in ("finished", "refused", "ended")
        return self.status == "finished" and self.plan == plan


class StepRow(NamedTuple):
    """A journalled step."""

    id: str
    status: str
    image: str | None
    detail: str


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection with the settings every part relies on: WAL, full sync, no implicit transactions."""
    uri = path.resolve().as_uri()
    if read_only:
        # a log cannot be made in an archive that may not be written, and need not: nobody writes there
        archive = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
        uri += "?mode=ro&immutable=1" if archive else "?mode=ro"
    try:
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None, timeout=30)
        if not read_only:
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = full")
        connection.execute("pragma cache_size = -65536")
        connection.execute("select count(*) from sqlite_master").fetchone()  # the first look at the file itself
    except sqlite3.Error as error:
        raise StudyError(f"{path} cannot be opened: {error}") from error
    return connection


class Records:
    """What a run has journalled, read only: another process may be writing it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = connect(path, read_only=True)

    def step(self, identity: str) -> StepRow | None:
        """A step that has been answered, if it has."""
        row = self._read.execute("select id, status, image, detail from steps where id = ?", (identity,)).fetchone()
        return StepRow(*row) if row else None

    def answer(self, identity: str) -> tuple[str | None, str] | None:
        """(value as JSON or None, raw reply) of a question that has been answered."""
        row = self._read.execute("select value, raw from answers where id = ?", (identity,)).fetchone()
        return (row[0], row[1]) if row else None

    def image(self, identity: str) -> tuple[str, str, int, int]:
        """(file, mime, width, height) of a stored image."""
        row = self._read.execute("select file, mime, width, height from images where id = ?", (identity,)).fetchone()
        if row is None:
            raise StudyError(f"image {identity} is not in {self.path}")
        return row[0], row[1], row[2], row[3]

    def attempts(self, step: str) -> int:
        """How many times this step has been tried, in all sessions."""
        (count,) = self._read.execute("select count(*) from attempts where step = ?", (step,)).fetchone()
        return int(count)

    def dollars(self) -> float:
        """What this run has cost so far: calls of editors and questions to models."""
        query = "select sum(dollars) from (select dollars from attempts union all select dollars from answers)"
        (spent,) = self._read.execute(f"select coalesce(({query}), 0)").fetchone()
        return float(spent)

    def chains(self) -> dict[tuple[str, str], ChainRow]:
        """(editor, case) → how far it has come."""
        rows = self._read.execute('select editor, "case", plan, status, rounds, planned from chains')
        return {(editor, case): ChainRow(*row) for editor, case, *row in rows}

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Any question, read only."""
        yield from self._read.execute(query, parameters)

    def close(self) -> None:
        """Let go of the file."""
        self._read.close()


class Journal(Records):
    """Reads at once, writes in groups."""

    def __init__(self, path: Path) -> None:
        self._write = connect(path)
        migrate(self._write)
        super().__init__(path)
        self._pending: list[Row] = []
        self._lock = threading.Lock()
        self._failure: Exception | None = None
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
        self._inserts: dict[str, str] = {}
        self.commits = 0

    async def commit(self, rows: Iterable[Row]) -> None:
        """Return when these rows are durable."""
        with self._lock:
            self._pending.extend(rows)
        await asyncio.get_running_loop().run_in_executor(self._writer, self._flush)

    def commit_now(self, rows: Iterable[Row]) -> None:
        """The same, for callers without an event loop."""
        with self._lock:
            self._pending.extend(rows)
        self._writer.submit(self._flush).result()

    def _flush(self) -> None:
        if self._failure is not None:
            raise StudyError(f"nothing more can be written to {self.path}: {self._failure}")
        with self._lock:
            rows, self._pending = self._pending, []
        if not rows:
            return
        try:
            self._write.execute("begin immediate")
            for table, values in rows:
                self._write.execute(self._insert(table, len(values)), values)
            self._write.execute("commit")
        except sqlite3.Error as error:
            self._failure = error
            if self._write.in_transaction:
                self._write.execute("rollback")
            raise StudyError(
                f"could not write to {self.path}: {error}; what was written before is safe. "
                "Make room or repair, then run the same command again"
            ) from error
        self.commits += 1

    def _insert(self, table: str, width: int) -> str:
        if table not in self._inserts:
            # a chain's row is its present state; every other row is a fact and is never changed
            verb = "replace" if table == "chains" else "ignore"
            self._inserts[table] = f"insert or {verb} into {table} values ({','.join('?' * width)})"
        return self._inserts[table]

    def close(self) -> None:
        """Write what is pending and let go of the file."""
        self._writer.shutdown(wait=True)
        super().close()
        self._write.close()
