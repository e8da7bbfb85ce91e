"""The book of a rating by people: its plan, its raters, and every answer they ever gave, in a database of its own.

The run is not locked while people rate, which may take days. An answer is on the disk before the rater's page is told
so; a changed answer is a new row, and of each showing the last row counts.
"""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from convergebench.errors import StudyError
from convergebench.store.connection import connect
from convergebench.store.images import sync_folder
from convergebench.store.unfinished import PART

FOLDER = "rating"
"""The folder of books in a run directory."""
FORMAT = 1
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")
_SCHEMA = f"""
begin;
create table facts (name text primary key, value text not null) without rowid;
create table raters (
  number integer primary key,     -- from 1
  token text not null unique,     -- hash of the secret in the rater's link
  made text not null
);
create table showings (
  rater integer not null references raters(number),
  position integer not null,      -- from 1, in the order of this rater
  facts text not null,            -- JSON
  primary key (rater, position)
) without rowid;
create table answers (
  number integer primary key autoincrement,
  rater integer not null,
  position integer not null,
  "values" text not null,         -- JSON: question → number, null: cannot say
  seconds real not null,
  made text not null,
  foreign key (rater, position) references showings(rater, position)
);
create index answers_by_showing on answers (rater, position, number);
pragma user_version = {FORMAT};
commit;
"""


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture of the run. Shown as if they were results: the editor `clean`, the undamaged picture, and `input`."""

    editor: str
    case: str
    step: int
    image: str


@dataclass(frozen=True, slots=True)
class Showing:
    """What a rater sees at one time: the input and one picture, or two to choose from (the left one first)."""

    position: int
    input: str
    """Image id."""
    clean: str | None
    """Image id of the undamaged picture, where there is one."""
    pictures: tuple[ShownPicture, ...]
    time: int = 1
    """2: this rater sees it for the second time."""
    attention: Mapping[str, float] = field(default_factory=dict)
    """`least` or `most`: what anybody who looks will answer. Empty: nobody knows the answer."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """The last answer to a showing."""

    position: int
    values: Mapping[str, float | None]
    """By question; None: cannot say."""
    seconds: float
    made: str
    changes: int
    """How often it was changed."""


class InvitedRater(NamedTuple):
    """A rater who gets a link; only the hash of its secret is kept."""

    number: int
    token: str
    showings: tuple[Showing, ...]


class RatingBook:
    """An open book. Safe to call from any thread; several processes may have it open."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection, self._lock = connection, threading.Lock()
        self.facts: dict[str, str] = dict(connection.execute("select name, value from facts").fetchall())

    @classmethod
    def create(cls, path: Path, facts: Mapping[str, str], raters: Iterable[InvitedRater]) -> RatingBook:
        """A new book, whole or not at all; it gets an identity and a secret of its own."""
        path.parent.mkdir(exist_ok=True)
        if path.exists() or path.is_symlink():
            raise StudyError(f"{path} already exists; name another --plan")
        part = path.with_name(f"{PART}{secrets.token_hex(8)}")
        try:
            part.touch(mode=0o600)
            with closing(connect(part)) as connection:
                connection.executescript(_SCHEMA)
                own = {"identity": secrets.token_hex(16), "secret": secrets.token_hex(32), "created": _now()}
                connection.execute("begin immediate")
                _write_raters(connection, raters)
                connection.executemany("insert into facts values (?, ?)", ({**facts, **own}).items())
                connection.execute("commit")
            part.replace(path)
        finally:
            for left in (part, part.with_name(f"{part.name}-wal"), part.with_name(f"{part.name}-shm")):
                left.unlink(missing_ok=True)
        sync_folder(path.parent)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> RatingBook:
        """A book that is there; `StudyError` if it is none."""
        if path.is_symlink() or not path.is_file():
            raise StudyError(f"{path} does not exist; start a rating with: cbench rate {path.parent.parent}")
        connection = connect(path, read_only=read_only)
        try:
            _require_book(path, connection)
            return cls(path, connection)
        except sqlite3.Error as error:
            connection.close()
            raise StudyError(f"{path} cannot be read: {error}; restore it from a copy") from error
        except BaseException:
            connection.close()
            raise

    def add_raters(self, raters: Iterable[InvitedRater]) -> None:
        """Invite more."""
        self._change(lambda: _write_raters(self._connection, raters))

    def replace_tokens(self, tokens: Mapping[int, str]) -> None:
        """Give raters new links; the old ones end."""
        rows = [(token, number) for number, token in tokens.items()]
        self._change(lambda: self._connection.executemany("update raters set token = ? where number = ?", rows))

    def raters(self) -> list[int]:
        """Their numbers."""
        return [number for (number,) in self._query("select number from raters order by number")]

    def rater_of(self, token: str) -> int | None:
        """Whose link has the secret with this hash."""
        found = self._query("select number from raters where token = ?", token)
        return int(found[0][0]) if found else None

    def showings(self, rater: int) -> list[Showing]:
        """What this rater sees, in order."""
        rows = self._query("select position, facts from showings where rater = ? order by position", rater)
        try:
            return [_showing(position, facts) for position, facts in rows]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StudyError(f"{self.path} is damaged ({type(error).__name__}); restore it from a copy") from error

    def answers(self, rater: int) -> dict[int, GivenAnswer]:
        """Position → the last answer."""
        rows = self._query(
            """select position, "values", seconds, made, max(number), count(*) from answers where rater = ?
               group by position order by position""",  # with max(), SQLite takes the other columns from that row
            rater,
        )
        return {
            position: GivenAnswer(position, json.loads(values), seconds, made, count - 1)
            for position, values, seconds, made, _, count in rows
        }

    def answer(self, rater: int, position: int, values: Mapping[str, float | None], *, seconds: float) -> bool:
        """Keep an answer; returns, once it is on the disk, whether it differs from the one before."""
        text = json.dumps(dict(values), sort_keys=True, allow_nan=False)

        def write() -> bool:
            last = self._connection.execute(
                'select "values", made from answers where rater = ? and position = ? order by number desc limit 1',
                (rater, position),
            ).fetchone()
            if last is not None and last[0] == text:
                return False
            self._connection.execute(
                'insert into answers (rater, position, "values", seconds, made) values (?, ?, ?, ?, ?)',
                (rater, position, text, seconds, _now(after=last[1] if last else None)),
            )
            return True

        return bool(self._change(write))

    def _change(self, write: Any) -> Any:
        with self._lock:
            self._connection.execute("begin immediate")
            try:
                done = write()
                self._connection.execute("commit")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("rollback")
                raise
            return done

    def _query(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(sql, parameters).fetchall()

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._connection.close()


def book_path(root: Path, name: str) -> Path:
    """Where the book of this name is; `StudyError` for a name that no file should have."""
    if not _NAME.fullmatch(name):
        raise StudyError(f"--plan '{name[:40]}': use lower-case letters, digits and hyphens, at most 31 of them")
    return root / FOLDER / f"{name}.sqlite"


def book_names(root: Path) -> list[str]:
    """The books of a run."""
    return sorted(path.stem for path in (root / FOLDER).glob("*.sqlite") if _NAME.fullmatch(path.stem))


def _require_book(path: Path, connection: sqlite3.Connection) -> None:
    """A received run may bring a book along: nothing but our own tables, as this version knows them."""
    (version,) = connection.execute("pragma user_version").fetchone()
    if version > FORMAT:
        raise StudyError(f"{path} was written by a newer convergebench; upgrade with: pip install -U convergebench")
    kinds = {
        (kind, name)
        for kind, name in connection.execute("select type, name from sqlite_master where name not like 'sqlite_%'")
    }
    own = {("table", name) for name in ("facts", "raters", "showings", "answers")} | {("index", "answers_by_showing")}
    names = {name for (name,) in connection.execute("select name from facts")} if kinds == own else set()
    if version != FORMAT or not {"identity", "secret", "settings", "cases"} <= names:
        raise StudyError(f"{path} is not a file of ratings; remove it, or name another --plan")


def _write_raters(connection: sqlite3.Connection, raters: Iterable[InvitedRater]) -> None:
    for one in raters:
        connection.execute("insert into raters values (?, ?, ?)", (one.number, one.token, _now()))
        rows = ((one.number, showing.position, _facts(showing)) for showing in one.showings)
        connection.executemany("insert into showings values (?, ?, ?)", rows)


def _facts(showing: Showing) -> str:
    cells = asdict(showing)
    del cells["position"]
    return json.dumps({**cells, "attention": dict(showing.attention)}, sort_keys=True)


def _showing(position: int, facts: str) -> Showing:
    cells = json.loads(facts)
    pictures = tuple(ShownPicture(**one) for one in cells.pop("pictures"))
    return Showing(position, pictures=pictures, **cells)


def _now(after: str | None = None) -> str:
    """The time, later than `after` even if the clock was set back: of two answers the later one counts."""
    now = datetime.now(UTC)
    if after is not None:
        now = max(now, datetime.fromisoformat(after) + timedelta(microseconds=1))
    return now.isoformat(timespec="microseconds")
