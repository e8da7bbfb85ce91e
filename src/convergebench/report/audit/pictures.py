"""The pictures of a contradiction: the same chain at the baseline and later, whole and where they differ most."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from convergebench.report.audit.details import details
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.chains import viewer_link
from convergebench.report.files import write_whole
from convergebench.report.input import Row, rows
from convergebench.report.thumbnails import HERO_SIDE, Thumbnails

CHAIN = ("run", "editor", "case", "metric")


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture of a chain."""

    at: int
    raw: float | None
    image: str | None
    link: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A contradiction with its pictures; `strip` begins with the baseline and ends with the late one."""

    row: Row
    strip: tuple[Shot, ...]

    @property
    def first(self) -> Shot:
        """At the baseline."""
        return self.strip[0]

    @property
    def last(self) -> Shot:
        """Where the score is better and the picture worse."""
        return self.strip[-1]

    @property
    def shown(self) -> bool:
        """Whether both can be seen."""
        return self.first.image is not None and self.last.image is not None


@dataclass(frozen=True, slots=True)
class Album:
    """Where pictures, links and raw scores are looked up."""

    given: AuditReportInput
    out: Path
    scores: dict[tuple[Any, ...], tuple[float | None, int | None]]

    def evidence(self, row: Row, steps: Sequence[int] = ()) -> Evidence:
        """The pictures of one contradiction, with those of `steps` between."""
        between = [at for at in sorted(set(steps)) if row["base_at"] < at < row["at"]]
        wanted = [row["base_at"], *between, row["at"]]
        files = {at: self.given.picture(row["run"], row["editor"], row["case"], at) for at in wanted}
        small = self._small([path for path in files.values() if path])
        kept = [at for at in wanted if at in (row["base_at"], row["at"]) or files[at]]
        details = self._details(files[row["base_at"]], files[row["at"]])
        ends = {row["base_at"]: details[0], row["at"]: details[1]}
        return Evidence(row, tuple(self._frame(row, at, files[at], small, ends.get(at)) for at in kept))

    def _frame(self, row: Row, at: int, path: Path | None, small: dict[Path, str], detail: str | None) -> Shot:
        raw, step = self.scores.get((*(row[key] for key in CHAIN), at), (None, None))
        return Shot(at, raw, small.get(path) if path else None, self._link(row, path, step), detail)

    def _link(self, row: Row, path: Path | None, step: int | None) -> str:
        """The run's own viewer if there is one, else the picture itself."""
        run = self.given.runs.get(row["run"])
        if run is not None and (run / "report" / "viewer.html").is_file():
            return f"{relative(run / 'report', self.out)}/{viewer_link(row['editor'], row['case'], step)}"
        return relative(path, self.out) if path else ""

    def _small(self, paths: Iterable[Path]) -> dict[Path, str]:
        named = {os.path.relpath(path, self.out): path for path in paths}  # runs may have pictures of the same name
        made = Thumbnails(self.out, self.out).make(named, square=HERO_SIDE)
        return {named[name]: thumb for name, thumb in made.items()}

    def _details(self, base: Path | None, late: Path | None) -> tuple[str | None, str | None]:
        if base is None or late is None:
            return None, None
        # the last word keeps details apart that an earlier version cut without registration
        key = f"{os.path.relpath(base, self.out)}\x1f{os.path.relpath(late, self.out)}\x1fregistered"
        name = blake2b(key.encode(), digest_size=12).hexdigest()
        names = [f"thumbs/{name[:2]}/{name[2:]}-{which}.webp" for which in ("base", "late")]
        if not all((self.out / one).exists() for one in names):
            found = details(base, late)
            if found is None:
                return None, None
            for one, data in zip(names, found, strict=True):
                (self.out / one).parent.mkdir(parents=True, exist_ok=True)
                write_whole(self.out / one, data)
        return names[0], names[1]


def open_album(given: AuditReportInput, out: Path) -> Album:
    """Raw scores are kept of those chains only that a contradiction names."""
    chosen = given.audit.contradictions.select(CHAIN).unique()
    part = given.given.scores.join(chosen, on=CHAIN, how="semi").select(*CHAIN, "at", "value", "step")
    return Album(given, out, {row[:5]: row[5:] for row in part.sort("step").iter_rows()})


def contradictions(given: AuditReportInput) -> list[Row]:
    """The worst first."""
    return rows(given.audit.contradictions.filter(pl.col("gap").is_not_null()))


def relative(path: Path, out: Path) -> str:
    """A link from the page to a file of a run."""
    return quote(Path(os.path.relpath(path, out)).as_posix())
