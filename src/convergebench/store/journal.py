"""The journal: `run.sqlite`, one writer, group commits.

Callers hand over rows and await them; one thread writes whatever has gathered since its last commit in one durable
transaction. When `commit` returns, the rows are on the disk. A value that no column can hold fails its own caller and
nobody else. If the file itself cannot be written (disk full, say), the journal is closed for writing: every caller of
the group and every later commit fail with the same reason, so no caller can believe a lost row.
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

from convergebench.errors import StudyError, Unstorable
from convergebench.store.columns import Columns, columns_of, require_storable
from convergebench.store.rollback import require_harmless_rollback
from convergebench.store.schema import migrate

Row = tuple[str, Sequence[Any]]
"""A table name with its values in column order (inserted, or left as it is if the key is there)."""

_BAD_VALUE = (
    OverflowError, ValueError, TypeError,
    sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.DataError,
)  # fmt: skip
"""What writing raises when a row is at fault and not the file."""

SETTLED = """on conflict (step, attempt) do update set started = excluded.started, seconds = excluded.seconds,
  dollars = excluded.dollars, outcome = excluded.outcome, error = excluded.error, model = excluded.model,
  raw = excluded.raw, settled = excluded.settled, part = excluded.part
  where attempts.outcome = 'unknown' and attempts.editor = excluded.editor"""
"""How the row that was written before a call becomes the row that tells how it went."""


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


class PartRow(NamedTuple):
    """A journalled answer of a part of an editor."""

    image: str
    model: str
    reasoning: str | None
    raw: str | None
    used: str


class Unsettled(NamedTuple):
    """Calls that nobody knows the price of for certain."""

    calls: int
    dollars: float


class _Batch:
    """The rows of one caller, and what became of them."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.settled = False
        self.error: Exception | None = None

    def settle(self, error: Exception | None = None) -> None:
        self.settled, self.error = True, error


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection with the settings every part relies on: WAL, full sync, no implicit transactions."""
    require_harmless_rollback(path)
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
        raise StudyError(f"{path} cannot be opened: {error}; see: cbench verify {path.parent}") from error
    return connection


class Records:
    """What a run has journalled, read only: another process may be writing it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = connect(path, read_only=True)
        (self._version,) = self._read.execute("pragma user_version").fetchone()

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
            raise StudyError(f"image {identity} is not in {self.path}; see: cbench verify {self.path.parent}")
        return row[0], row[1], row[2], row[3]

    def attempts(self, step: str) -> int:
        """How many times this step has been tried, in all sessions; calls of an editor's parts are not tries."""
        (count,) = self._read.execute("select count(*) from attempts where step = ? and part = ''", (step,)).fetchone()
        return int(count)

    def last_attempt(self, step: str) -> int:
        """The highest number among the rows about this step."""
        (last,) = self._read.execute("select max(attempt) from attempts where step = ?", (step,)).fetchone()
        return int(last or 0)

    def reply(self, step: str) -> tuple[str | None, str | None]:
        """(model, raw reply) of the attempt that answered a step."""
        whole = "and part = ''" if self._version >= 5 else ""
        query = f"select model, raw from attempts where step = ? and outcome in ('ok', 'reused') {whole}"
        row = self._read.execute(f"{query} order by attempt desc", (step,)).fetchone()
        return (row[0], row[1]) if row else (None, None)

    def part(self, identity: str) -> PartRow | None:
        """What a part of an editor has answered, if it has."""
        query = "select image, model, reasoning, raw, used from parts where id = ?"
        row = self._read.execute(query, (identity,)).fetchone()
        return PartRow(*row) if row else None

    def dollars(self) -> float:
        """What this run has cost so far: calls of editors and questions to models, those of unknown outcome too."""
        query = "select sum(dollars) from attempts"
        if self._version < 5:  # an older run that is only read keeps the price of a question with its answer
            query = "select sum(dollars) from (select dollars from attempts union all select dollars from answers)"
        (spent,) = self._read.execute(f"select coalesce(({query}), 0)").fetchone()
        return float(spent)

    def unsettled(self) -> Unsettled:
        """Calls that were sent and of which nobody knows whether they are charged, with their price."""
        if self._version < 5:
            return Unsettled(0, 0.0)
        query = "select count(*), coalesce(sum(dollars), 0) from attempts where not settled"
        calls, dollars = self._read.execute(query).fetchone()
        return Unsettled(int(calls), float(dollars))

    def chains(self) -> dict[tuple[str, str], ChainRow]:
        """(editor, case) → how far it has come."""
        rows = self._read.execute('select editor, "case", plan, status, rounds, planned from chains')
        return {(editor, case): ChainRow(*row) for editor, case, *row in rows}

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Any question, read only."""
        # not `yield from`: it would close a cursor whose connection may be gone by then
        for row in self._read.execute(query, parameters):  # noqa: UP028
            yield row

    def close(self) -> None:
        """Let go of the file."""
        self._read.close()


class Journal(Records):
    """Reads at once, writes in groups."""

    def __init__(self, path: Path) -> None:
        self._write = connect(path)
        migrate(self._write)
        super().__init__(path)
        self._columns: Columns = columns_of(self._write)
        self._pending: list[_Batch] = []
        self._lock = threading.Lock()
        self._failure: StudyError | None = None
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
        self.commits = 0

    async def commit(self, rows: Iterable[Row]) -> None:
        """Return when these rows are durable; `Unstorable` if one of them cannot be."""
        batch = self._gathered(rows)
        await asyncio.get_running_loop().run_in_executor(self._writer, self._flush, batch)

    def commit_now(self, rows: Iterable[Row]) -> None:
        """The same, for callers without an event loop."""
        self._writer.submit(self._flush, self._gathered(rows)).result()

    def require(self, rows: Iterable[Row]) -> None:
        """`Unstorable` if one of these could not be committed; worth asking before a call is paid for."""
        for table, values in rows:
            require_storable(self._columns, table, values)

    def _gathered(self, rows: Iterable[Row]) -> _Batch:
        batch = _Batch(list(rows))
        self.require(batch.rows)
        with self._lock:
            self._pending.append(batch)
        return batch

    def _flush(self, mine: _Batch) -> None:
        """Write everything that has gathered, then answer for one caller's rows alone."""
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
            else:  # one of them is at fault: each by itself, so that the others are not lost
                for batch in batches:
                    self._written([batch])
        except BaseException as error:
            self._failure = StudyError(
                f"could not write to {self.path}: {error}; what was written before is safe. "
                "Make room or repair, then run the same command again"
            )
            for batch in batches:
                batch.settle(self._failure)
        else:
            for batch in batches:
                batch.settle()

    def _transaction(self, rows: Sequence[Row]) -> None:
        """All of the rows, or none of them."""
        if not rows:
            return
        self._write.execute("begin immediate")
        try:
            for table, values in rows:
                self._write_row(table, values)
            self._write.execute("commit")
        except BaseException:
            if self._write.in_transaction:
                self._write.execute("rollback")
            raise
        self.commits += 1

    def _write_row(self, table: str, values: Sequence[Any]) -> None:
        holes = ",".join("?" * len(values))
        # a chain's row is its present state; a call's row is known in full when its answer has come; every other row
        # is a fact and is never changed
        if table == "chains":
            self._write.execute(f"insert or replace into chains values ({holes})", values)
        elif table != "attempts":
            self._write.execute(f"insert into {table} values ({holes}) on conflict do nothing", values)
        elif self._write.execute(f"insert into attempts values ({holes}) {SETTLED}", values).rowcount == 0:
            # a number that is taken would drop what this call cost
            step, _, *rest = values
            query = "select 1 + max(attempt) from attempts where step = ?"
            (free,) = self._write.execute(query, (step,)).fetchone()
            self._write.execute(f"insert into attempts values ({holes})", (step, free, *rest))

    def close(self) -> None:
        """Write what is pending (of callers who were cancelled, too) and let go of the file."""
        with self._lock:
            left, self._pending = self._pending, []
        self._writer.submit(self._written, left)
        self._writer.shutdown(wait=True)
        super().close()
        self._write.close()
