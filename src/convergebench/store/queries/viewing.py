"""Queries of the viewer: a run's images, chains and progress, read while another process may be writing them.

Nothing is created in the run's folder, and no query takes longer than `MOST_SECONDS`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from convergebench.errors import StudyError
from convergebench.store.connection import open_quietly
from convergebench.store.frames import RunFrames
from convergebench.store.outside import name_outside
from convergebench.store.tables import ImageRow
from convergebench.texts import short_line

MOST_SECONDS = 20.0
RECENT = 60.0
"""Seconds over which the pace of a run is taken."""

IMAGES = (
    "image", "width", "height", "step", "editor", "case", "source", "kind", "pair", "category", "replicate", "status",
    "seconds", "dollars", "attempts",
)  # fmt: skip
"""Columns of the table of images."""
_STEPS = {
    "editor": pl.String, "case": pl.String, "step": pl.Int64, "status": pl.String, "image": pl.String, "id": pl.String,
}  # fmt: skip
_SIZES = {"image": pl.String, "width": pl.Int64, "height": pl.Int64}
_CALLS = {"id": pl.String, "seconds": pl.Float64, "dollars": pl.Float64, "attempts": pl.Int64}
_CASES = {
    "case": pl.String, "source": pl.String, "kind": pl.String, "pair": pl.String, "category": pl.String,
    "replicate": pl.Int64,
}  # fmt: skip
_COMPARED = {
    "editor": pl.String, "case": pl.String, "step": pl.Int64, "role": pl.String, "lag": pl.Int64, "round": pl.Int64,
    "id": pl.String,
}  # fmt: skip


class RunProgress(NamedTuple):
    """What a run has done."""

    steps: int
    dollars: float
    recent: int
    """Steps answered within the last minute."""
    recent_seconds: float
    """Length of that minute, where the run is younger."""


class ChainState(NamedTuple):
    """How far a chain is."""

    status: str
    rounds: int
    planned: int
    steps: int


class NewImage(NamedTuple):
    """An image that has just come in."""

    image: str
    editor: str
    case: str
    step: int


class EarlyEnd(NamedTuple):
    """A chain that failed, was refused or was stopped."""

    editor: str
    case: str
    status: str
    detail: str
    step: int


def journal_state(root: Path) -> str:
    """Changes whenever the journal, the manifest or the tables of the report were written."""
    parts = []
    for name in ("run.sqlite", "run.sqlite-wal", "manifest.json", "tables/chains.parquet"):
        try:
            found = (root / name).stat()
            parts.append(f"{found.st_ino:x}.{found.st_size:x}.{found.st_mtime_ns:x}")
        except OSError:
            parts.append("-")
    return "/".join(parts)


class ViewingReader:
    """An open journal; close it."""

    def __init__(self, root: Path, *, checked: bool = True) -> None:
        """`checked`: whether all file names in the journal are checked, which takes a moment in a large run.

        Without it, whoever opens a file checks its name.
        """
        path = root / "run.sqlite"
        if not os.path.realpath(path).startswith(os.path.realpath(root) + os.sep):
            raise StudyError(f"{path} is a link that leads out of the run; nothing was read")
        if not path.is_file():
            raise StudyError(f"{root} has no run.sqlite; see: cbench verify {root}")
        self._connection = open_quietly(path, seconds=MOST_SECONDS)
        try:
            name = name_outside(self._connection) if checked else None
        except sqlite3.Error as error:
            self._connection.close()
            raise StudyError(f"{path} cannot be read: {error}; see: cbench verify {root}") from error
        if name is not None:
            self._connection.close()
            raise StudyError(f"the database of {root} has '{short_line(name)}', which is not a file inside the run")
        self.frames = RunFrames(root, self._connection)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _all(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, tuple(parameters)).fetchall()

    def images(self) -> pl.DataFrame:
        """One row per image that a step gave, chain by chain; the sources are left out."""
        # several plain reads: SQLite takes twice as long to join them
        steps = self._frame(
            """select p.editor, p."case", p.position, s.status, s.image, s.id from chain_steps p
               join steps s on s.id = p.step where s.image is not null""",
            _STEPS,
        )
        images = self._frame("select id, width, height from images", _SIZES)
        calls = self._frame(
            "select step, sum(seconds), sum(dollars), sum(part = '') from attempts group by step", _CALLS
        )
        cases = self._frame("select id, source, kind, pair, category, replicate from cases", _CASES)
        found = steps.join(images, on="image").join(cases, on="case").join(calls, on="id", how="left")
        return found.with_columns(pl.col("image").str.strip_prefix("i1:")).select(IMAGES)

    def _frame(self, query: str, schema: dict[str, type[pl.DataType]], parameters: Sequence[Any] = ()) -> pl.DataFrame:
        return pl.DataFrame(self._all(query, parameters), schema=schema, orient="row")

    def measured(self) -> tuple[list[str], list[str]]:
        """Names of all metrics with a measurement, and the alignments under which something was measured."""
        rows = self._all("select distinct metric, align from measurements")
        return sorted({metric for metric, _ in rows}), sorted({align for _, align in rows} - {"none"})

    def compared(self, align: str, metrics: Sequence[str]) -> pl.DataFrame:
        """One row per comparison with a column per metric (`m0`, `m1` …, null where there is no value)."""
        # two plain reads: SQLite takes longer to join them
        columns = "".join(f", max(value) filter (where metric = ?) m{place}" for place in range(len(metrics)))
        values = self._frame(
            f"select comparison{columns} from measurements where align in (?, 'none') group by comparison",
            {"id": pl.String, **{f"m{place}": pl.Float64 for place in range(len(metrics))}},
            (*metrics, align),
        )
        found = self._frame(
            """select editor, "case", step, role, lag, round, id from comparisons where role <> 'alone'""", _COMPARED
        )
        return found.join(values, on="id", how="left").drop("id")

    def first_images(self) -> dict[tuple[str, str], str]:
        """(editor, case) → the source's image, without the tag of its id."""
        query = """select h.editor, h."case", substr(c.image, 4) from chains h join cases c on c.id = h."case" """
        return {(editor, case): image for editor, case, image in self._all(query)}

    def image_row(self, digest: str) -> ImageRow | None:
        """A stored image by the hash of its bytes."""
        rows = self._all("select id, file, mime, width, height, bytes from images where id = ?", (f"i1:{digest}",))
        return ImageRow(*rows[0]) if rows else None

    def progress(self) -> RunProgress:
        """What the run has cost, and how fast it goes."""
        ((steps,),) = self._all("select count(*) from chain_steps")
        ((dollars,),) = self._all("select coalesce(sum(dollars), 0) from attempts")
        now = datetime.now(UTC)
        since = (now - timedelta(seconds=RECENT)).isoformat(timespec="milliseconds")
        ((recent, first),) = self._all(
            """select count(distinct step), min(started) from attempts
               where started >= ? and outcome in ('ok', 'refused', 'ended') and part = ''""",
            (since,),
        )
        return RunProgress(int(steps), float(dollars), int(recent), _seconds_since(first, now))

    def states(self) -> dict[tuple[str, str], ChainState]:
        """(editor, case) → how far it is."""
        query = """select h.editor, h."case", h.status, h.rounds, h.planned, (select count(*) from chain_steps p
                   where p.editor = h.editor and p."case" = h."case") from chains h"""
        return {(editor, case): ChainState(*rest) for editor, case, *rest in self._all(query)}

    def newest(self, most: int) -> list[NewImage]:
        """The images that came in last, the newest first."""
        last = self._all("select step from attempts where part = '' order by started desc limit ?", (4 * most,))
        places = ",".join("?" * len(last))
        rows = self._all(
            f"""select substr(s.image, 4), p.editor, p."case", p.position, p.step from chain_steps p
                join steps s on s.id = p.step where p.step in ({places}) and s.image is not null""",
            [step for (step,) in last],
        )
        order = {step: place for place, (step,) in reversed(list(enumerate(last)))}
        return [NewImage(*row[:4]) for row in sorted(rows, key=lambda row: order[row[4]])][:most]

    def early_ends(self, most: int) -> list[EarlyEnd]:
        """Chains that did not come to their end, by name."""
        rows = self._all(
            """select h.editor, h."case", h.status, h.detail, (select count(*) from chain_steps p
                 where p.editor = h.editor and p."case" = h."case")
               from chains h where h.status in ('failed', 'refused', 'stopped')
               order by h.status = 'stopped', h.editor, h."case" limit ?""",
            (most,),
        )
        return [EarlyEnd(*row) for row in rows]


def _seconds_since(moment: str | None, now: datetime) -> float:
    try:
        then = datetime.fromisoformat(moment or "")
    except ValueError:
        return RECENT
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return min(RECENT, max(1.0, (now - then).total_seconds()))
