"""Layouts: how each known set stores its chains. One module each, loaded by name when needed."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol, cast

from convergebench.datasets.chains import FoundChains
from convergebench.datasets.rows import columns_of
from convergebench.errors import StudyError
from convergebench.images.inside import is_inside
from convergebench.registry import suggest

LAYOUTS = {
    "exported": "convergebench.datasets.layouts.exported",
    "roundtrip": "convergebench.datasets.layouts.roundtrip",
    "magicbrush": "convergebench.datasets.layouts.magicbrush",
    "mse-bench": "convergebench.datasets.layouts.mse_bench",
    "edival": "convergebench.datasets.layouts.edival",
    "pico": "convergebench.datasets.layouts.pico",
    "restoration": "convergebench.datasets.layouts.restoration",
    "banana100": "convergebench.datasets.layouts.banana100",
}
"""In the order in which they are tried: the most specific first, the most tolerant last."""

TABLES = frozenset({".parquet", ".csv", ".jsonl", ".ndjson"})


@dataclass(frozen=True)
class SetLocation:
    """The folder or file that the user names; it is listed once for all layouts."""

    path: Path
    run: Path | None = None
    """The run that the set is added to, if there is one: its pictures may be what the set was made from."""
    images: Path | None = None
    """The folder of pictures that the set only names."""

    @property
    def root(self) -> Path:
        """The folder that names inside the set are relative to."""
        return self.path if self.path.is_dir() else self.path.parent

    @cached_property
    def files(self) -> list[Path]:
        """Every file below it in order, hidden ones and links that lead out of it left out; or the file itself."""
        return [path for path in self._listed if path not in self.strays]

    @cached_property
    def strays(self) -> frozenset[Path]:
        """Links that lead out of the folder: their targets are no part of the set."""
        if self.path.is_file():
            return frozenset()  # the user named it
        return frozenset(path for path in self._listed if not is_inside(self.root, path))

    @cached_property
    def _listed(self) -> list[Path]:
        if self.path.is_file():
            return [self.path]
        found = (path for path in self.path.rglob("*") if path.is_file())
        return sorted(path for path in found if not any(part.startswith(".") for part in self.inside(path).parts))

    @cached_property
    def tables(self) -> dict[Path, frozenset[str]]:
        """Every table below it with its columns."""
        return {path: columns_of(path) for path in self.files if path.suffix in TABLES}

    def with_columns(self, *columns: str, suffix: str | None = None) -> list[Path]:
        """Tables that have all of these columns."""
        return [
            path for path, there in self.tables.items() if there.issuperset(columns) and suffix in (None, path.suffix)
        ]

    def inside(self, path: Path) -> Path:
        """A path as seen from the root."""
        return path.relative_to(self.root)


class Layout(Protocol):
    """The interface of a layout's module."""

    LOOKS_FOR: str
    """What a folder must hold, in one line."""

    def recognise(self, place: SetLocation) -> str | None:
        """The evidence for this layout, in a few words; None if there is none."""
        ...

    def read(self, place: SetLocation, images: Path | None) -> FoundChains:
        """Its chains."""
        ...


def load_layout(name: str) -> Layout:
    """The layout of this name."""
    if name not in LAYOUTS:
        known = ["auto", *LAYOUTS]
        raise StudyError(f"unknown layout '{name}'{suggest(name, known)} (--as {' | '.join(known)})")
    return cast(Layout, importlib.import_module(LAYOUTS[name]))


def read_chains(
    path: Path, name: str = "auto", images: Path | None = None, *, run: Path | None = None
) -> tuple[str, str, FoundChains]:
    """(layout, evidence, chains) of a folder or file, read as this layout or as the first that recognises it.

    `run` is the run that they are added to, if there is one.
    """
    if not path.exists():
        raise StudyError(f"no folder or file '{path}'; give the set's folder or its table")
    place = SetLocation(path, run, images)
    if name == "auto":
        name, why = _recognised(place)
    else:
        recognised = load_layout(name).recognise(place)
        if recognised is None:
            raise StudyError(
                f"{path} is not laid out as {name}: looked for {load_layout(name).LOOKS_FOR}{_others(place)}"
            )
        why = recognised
    found = load_layout(name).read(place, images)
    if place.strays:
        found = replace(found, faults=(*found.faults, _astray(place)))
    if not found.chains and not found.faults:
        raise StudyError(f"no chain in {path}, read as {name}: looked for {load_layout(name).LOOKS_FOR}")
    return name, why, found


def _recognised(place: SetLocation) -> tuple[str, str]:
    for name in LAYOUTS:
        why = load_layout(name).recognise(place)
        if why is not None:
            return name, why
    looked = "; ".join(f"{name}: {load_layout(name).LOOKS_FOR}" for name in LAYOUTS)
    raise StudyError(f"no recorded chain in '{place.path}', read as any layout ({looked}); name the layout with --as")


def _astray(place: SetLocation) -> str:
    links = sorted(place.strays)
    more = f" and {len(links) - 1} more" if len(links) > 1 else ""
    return f"{links[0]}{more}: a link that leads out of {place.root}; put the file itself there"


def _others(place: SetLocation) -> str:
    known = [name for name in LAYOUTS if load_layout(name).recognise(place) is not None]
    return f"; it looks like --as {known[0]}" if known else ""
