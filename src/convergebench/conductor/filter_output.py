"""The files that `cbench filter` writes, row by row, each of them whole or not at all."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from convergebench.datasets.atomic import whole_folder
from convergebench.errors import StudyError
from convergebench.sheets import Sheet

TABLES = (".csv", ".jsonl", ".parquet")
COLUMNS = (
    *("path", "verdict", "metric", "value", "status", "detail"),
    *("remakings", "remakings_low", "remakings_high"),
)
NUMBERS = ("value", "remakings", "remakings_low", "remakings_high")

Row = Mapping[str, Any]


class FilterPlaces(NamedTuple):
    """Where results go; None: not asked for."""

    out: Path | None = None
    """A row for every image: CSV, JSON lines or Parquet."""
    keep: Path | None = None
    drop: Path | None = None
    """Paths of the images that pass, and of those that are refused or have no value, one in a line."""
    copy_to: Path | None = None
    link_to: Path | None = None
    """New folder for the images that pass, or for links to them."""

    def check(self, folder: Path) -> None:
        """Refuse, before the work, what could not be written after it."""
        if self.out is not None and self.out.suffix not in TABLES:
            raise StudyError(f"--out {self.out}: give it a name that ends in .csv, .jsonl or .parquet")
        for flag, path in (("--keep", self.keep), ("--drop", self.drop)):
            if path is not None and path.suffix != ".txt":
                raise StudyError(f"{flag} {path}: give it a name that ends in .txt")
        files = [path for path in (self.out, self.keep, self.drop) if path is not None]
        for path in files:
            if path.is_dir() or not path.absolute().parent.is_dir():
                raise StudyError(f"{path} cannot be written: name a file in a folder that is there")
        if len({path.resolve() for path in files}) < len(files):
            raise StudyError(f"{files[-1]} is named twice; give --out, --keep and --drop a file each")
        if self.copy_to is not None and self.link_to is not None:
            raise StudyError("give --copy-to or --link-to, not both")
        flag, place = ("--copy-to", self.copy_to) if self.copy_to is not None else ("--link-to", self.link_to)
        if place is not None and place.resolve().is_relative_to(folder.resolve()):
            raise StudyError(f"{flag} {place} is inside {folder}, which would be filtered again; name another folder")


class FilterOutput:
    """Takes rows; what it writes appears when all have been taken."""

    def __init__(
        self, takers: Mapping[str, Callable[[Row], object]], passed: Callable[[Path, str], None] | None
    ) -> None:
        self._takers, self._passed = takers, passed
        self.unlisted = 0
        """Names with a line break, which cannot be in a list of lines."""

    def row(self, row: Row) -> None:
        """A row for the table."""
        if "table" in self._takers:
            self._takers["table"](row)

    def listed(self, which: str, path: Path) -> None:
        """A line for the list `keep` or `drop`."""
        text = str(path)
        if which not in self._takers:
            return
        if "\n" in text or "\r" in text:
            self.unlisted += 1
            return
        self._takers[which]({"line": f"./{text}" if text.startswith("-") else text})

    def passes(self, path: Path, name: str) -> None:
        """An image for the folder of those that pass; `OSError` of the image if it is gone."""
        if self._passed is not None:
            self._passed(path, name)


@contextmanager
def written(places: FilterPlaces) -> Iterator[FilterOutput]:
    """The files of a filter: in place when the block ends, none of them if it does not."""
    takers: dict[str, Callable[[Row], object]] = {}
    with ExitStack() as stack:
        if places.out is not None:
            takers["table"] = stack.enter_context(_table(places.out))
        for which, path in (("keep", places.keep), ("drop", places.drop)):
            if path is not None:
                takers[which] = stack.enter_context(_list(path))
        passed = None
        for flag, place, put in (("--copy-to", places.copy_to, _copy), ("--link-to", places.link_to, _link)):
            if place is not None:
                passed = stack.enter_context(_folder(place, flag, put))
        yield FilterOutput(takers, passed)


@contextmanager
def _whole(path: Path, errors: str = "strict") -> Iterator[IO[str]]:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", errors=errors, newline="") as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _list(path: Path) -> Iterator[Callable[[Row], object]]:
    with _whole(path, errors="surrogateescape") as file:  # names are bytes: written as they are
        yield lambda row: file.write(f"{row['line']}\n")


@contextmanager
def _table(path: Path) -> Iterator[Callable[[Row], object]]:
    if path.suffix == ".csv":
        with _whole(path) as file:
            yield Sheet(file, COLUMNS).row
    elif path.suffix == ".jsonl":
        with _whole(path, errors="backslashreplace") as file:
            yield lambda row: file.write(_json_line(row))
    else:
        lines = path.with_name(f".{path.name}.{os.getpid()}.rows")
        try:
            with lines.open("w", encoding="utf-8", errors="backslashreplace") as file:
                yield lambda row: file.write(_json_line(row))
            _to_parquet(lines, path)
        finally:
            lines.unlink(missing_ok=True)


def _json_line(row: Row) -> str:
    # JSON has no infinity, and a lone surrogate of a file name is no text
    if row["value"] in (math.inf, -math.inf):
        row = {**row, "value": None, "status": "infinite"}
    text = {key: storable(cell) if isinstance(cell, str) else cell for key, cell in row.items()}
    return json.dumps(text, ensure_ascii=False, allow_nan=False) + "\n"


def storable(text: str) -> str:
    """With the bytes of a name that is not UTF-8 escaped, as in CSV files."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _to_parquet(lines: Path, path: Path) -> None:
    import polars as pl

    from convergebench.report.output import make_whole

    schema = {column: pl.Float64 if column in NUMBERS else pl.String for column in COLUMNS}
    make_whole(path, lambda part: pl.scan_ndjson(lines, schema=schema).sink_parquet(part))


@contextmanager
def _folder(place: Path, flag: str, put: Callable[[Path, Path], None]) -> Iterator[Callable[[Path, str], None]]:
    with whole_folder(place, flag=flag) as folder:

        def passed(path: Path, name: str) -> None:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            put(path, target)

        try:
            yield passed
        except BaseException:  # Ctrl-C too: the next command begins anew, so nothing is kept for it
            shutil.rmtree(folder.parent, ignore_errors=True)
            raise


def _copy(path: Path, target: Path) -> None:
    with path.open("rb") as source, target.open("xb") as copy:
        shutil.copyfileobj(source, copy, 1 << 20)
    shutil.copystat(path, target)


def _link(path: Path, target: Path) -> None:
    target.symlink_to(path.resolve())
