"""The pictures of a contradiction: the same chain at the baseline and later, whole and where they differ most."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.report.audit.details import details
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.chains import relative, viewer_link
from convergebench.report.input import Row, rows
from convergebench.report.output import RenderedFile
from convergebench.report.thumbnails import HERO_SIDE, Thumbnails

CHAIN = ("run", "editor", "case", "metric")


@dataclass(frozen=True, slots=True)
class ChainPicture:
    """One picture of a chain."""

    at: int
    raw: float | None
    image: str | None
    link: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class ContradictionPictures:
    """A contradiction with its pictures; `strip` begins with the baseline and ends with the late one."""

    row: Row
    strip: tuple[ChainPicture, ...]

    @property
    def first(self) -> ChainPicture:
        """At the baseline."""
        return self.strip[0]

    @property
    def last(self) -> ChainPicture:
        """The later picture, with the better score."""
        return self.strip[-1]

    @property
    def shown(self) -> bool:
        """Whether both pictures are available."""
        return self.first.image is not None and self.last.image is not None


@dataclass(frozen=True, slots=True)
class PictureLookup:
    """Looks up pictures, links and raw scores."""

    given: AuditReportInput
    out: Path
    scores: dict[tuple[Any, ...], tuple[float | None, int | None]]
    thumbnails: Thumbnails
    paths: dict[str, Path]
    """Pictures by their names among the thumbnails."""
    cut: dict[str, bytes] = field(default_factory=dict)
    """Details by their file names."""

    def evidence(self, row: Row, steps: Sequence[int] = ()) -> ContradictionPictures:
        """The pictures of one contradiction, with those of `steps` between."""
        between = [at for at in sorted(set(steps)) if row["base_at"] < at < row["at"]]
        shown = [row["base_at"], *between, row["at"]]
        files = {at: self.given.picture(row["run"], row["editor"], row["case"], at) for at in shown}
        small = self._small([path for path in files.values() if path])
        kept = [at for at in shown if at in (row["base_at"], row["at"]) or files[at]]
        details = self._details(files[row["base_at"]], files[row["at"]])
        ends = {row["base_at"]: details[0], row["at"]: details[1]}
        return ContradictionPictures(row, tuple(self._frame(row, at, files[at], small, ends.get(at)) for at in kept))

    def _frame(self, row: Row, at: int, path: Path | None, small: dict[Path, str], detail: str | None) -> ChainPicture:
        raw, step = self.scores.get((*(row[key] for key in CHAIN), at), (None, None))
        return ChainPicture(at, raw, small.get(path) if path else None, self._link(row, path, step), detail)

    def _link(self, row: Row, path: Path | None, step: int | None) -> str:
        """A link to the run's viewer if it exists, else to the picture."""
        run = self.given.runs.get(row["run"])
        if run is not None and (run / "report" / "viewer.html").is_file():
            return f"{relative(run / 'report', self.out)}/{viewer_link(row['editor'], row['case'], step)}"
        return relative(path, self.out) if path else ""

    def _small(self, paths: Iterable[Path]) -> dict[Path, str]:
        named = {os.path.relpath(path, self.out): path for path in paths}  # runs may have pictures of the same name
        self.paths.update(named)
        made = self.thumbnails.make(named, square=HERO_SIDE)
        return {named[name]: thumb for name, thumb in made.items()}

    def _details(self, base: Path | None, late: Path | None) -> tuple[str | None, str | None]:
        if base is None or late is None:
            return None, None
        # the suffix separates these from details that an earlier version cut without registration
        key = f"{os.path.relpath(base, self.out)}\x1f{os.path.relpath(late, self.out)}\x1fregistered"
        name = blake2b(key.encode(), digest_size=12).hexdigest()
        names = [f"thumbs/{name[:2]}/{name[2:]}-{which}.webp" for which in ("base", "late")]
        if not all(one in self.cut or (self.out / one).exists() for one in names):
            found = details(self.given.read(base), self.given.read(late))
            if found is None:
                return None, None
            self.cut.update(zip(names, found, strict=True))
        return names[0], names[1]

    def files(self) -> Iterator[RenderedFile]:
        """The thumbnails and details that are not on the disk yet."""
        yield from self.thumbnails.take()
        yield from self.cut.items()


def look_up_pictures(given: AuditReportInput, out: Path) -> PictureLookup:
    """A lookup with the raw scores of the chains in the contradictions."""
    chosen = given.audit.contradictions.select(CHAIN).unique()
    part = given.given.scores.join(chosen, on=CHAIN, how="semi").select(*CHAIN, "at", "value", "step")
    scores = {row[:5]: row[5:] for row in part.sort("step").iter_rows()}
    paths: dict[str, Path] = {}
    return PictureLookup(given, out, scores, Thumbnails(lambda name: given.read(paths[name]), out), paths)


def contradictions(given: AuditReportInput) -> list[Row]:
    """The contradictions with a gap, the worst first."""
    return rows(given.audit.contradictions.filter(pl.col("gap").is_not_null()))
