"""The images of a folder, and the values of a few of them at a time: what a process of `cbench filter` does."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from convergebench.errors import StudyError, Unmeasurable
from convergebench.images.decode import decode
from convergebench.images.frame import Frame
from convergebench.measuring.files import SUFFIXES
from convergebench.measuring.readings import readings_of
from convergebench.metrics import load_for_parent
from convergebench.metrics.base import Item, Metric, Reading, batch_size
from convergebench.metrics.place import Place, move

DECAY = "decay"
"""The metric that says whether a picture is like those it was tested on."""
MOST_BYTES = 1_000_000_000
"""Larger files are not read: no picture within the limit of pixels needs more."""


class FolderImages(NamedTuple):
    """What a folder holds."""

    names: list[str]
    """Paths of the images, relative to the folder, sorted."""
    others: int
    """Files that are not images by their names."""


class MeasuredImage(NamedTuple):
    """What was found out about one image."""

    name: str
    reading: Reading
    remakings: float | None = None
    low: float | None = None
    high: float | None = None
    """How many remakings it looks like, with the 95 % interval; of `decay` only."""
    known: bool = True
    """False if the picture is unlike anything that the metric was tested on."""


@dataclass(frozen=True, slots=True)
class FilterLot:
    """A few images that are measured together."""

    number: int
    folder: Path
    names: Sequence[str]
    metric: str
    place: Place


class MeasuredLot(NamedTuple):
    """A lot with its values."""

    number: int
    images: list[MeasuredImage]


def find_in(folder: Path, *, recursive: bool) -> FolderImages:
    """The images in a folder, and with `recursive` below it, as `cbench measure` finds them.

    Links to files are followed, links to folders are not.
    """
    names: list[str] = []
    others = 0
    waiting: list[tuple[str, bool]] = [("", True)]
    while waiting:
        name, is_folder = waiting.pop()
        if not is_folder:
            names.append(name)
            continue
        inside: list[tuple[str, bool]] = []
        with os.scandir(folder / name) as entries:
            for entry in entries:
                if entry.name == "run.sqlite":
                    raise StudyError(f"{folder / name} is a run: name a folder of images, or: cbench measure RUN")
                path = os.path.join(name, entry.name)  # noqa: PTH118  a Path for each of 100,000 takes longer
                if entry.is_dir(follow_symlinks=False):
                    inside += [(path, True)] if recursive else []
                elif os.path.splitext(entry.name)[1].lower() in SUFFIXES and entry.is_file():  # noqa: PTH122
                    inside.append((path, False))
                else:
                    others += 1
        waiting += sorted(inside, reverse=True)
    return FolderImages(names, others)


def measure_lot(lot: FilterLot) -> MeasuredLot:
    """The values of a lot, in its order; a file that cannot be measured is a reading with a status."""
    move(lot.place)
    metric = load_for_parent(lot.metric)
    size = batch_size(metric, lot.place)
    images: list[MeasuredImage] = []
    for start in range(0, len(lot.names), size):  # no more frames in memory than the metric takes at once
        images += _measured(lot, lot.names[start : start + size], metric)
    return MeasuredLot(lot.number, images)


def _measured(lot: FilterLot, names: Sequence[str], metric: Metric) -> Iterator[MeasuredImage]:
    frames = {name: _frame(lot.folder / name) for name in names}
    ready = {name: frame for name, frame in frames.items() if isinstance(frame, Frame)}
    items = [Item(frame) for frame in ready.values()]
    what = " or ".join(str(lot.folder / name) for name in ready)
    readings = dict(zip(ready, readings_of(metric, items, what), strict=True)) if items else {}
    for name, frame in frames.items():
        if not isinstance(frame, Frame):
            yield MeasuredImage(name, frame)
        elif lot.metric == DECAY and readings[name].value is not None:
            yield _with_remakings(name, readings[name], frame)
        else:
            yield MeasuredImage(name, readings[name])


def _frame(path: Path) -> Frame | Reading:
    """The pixels of a file, or why there are none."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            return Reading(None, "unreadable", f"{path} has {size:,} bytes, more than the {MOST_BYTES:,} allowed")
        return decode(path.read_bytes(), what=str(path))
    except OSError as error:
        return Reading(None, "unreadable", f"cannot read {path}: {error.strerror or error}")
    except StudyError as error:
        return Reading(None, "unreadable", str(error))


def _with_remakings(name: str, reading: Reading, frame: Frame) -> MeasuredImage:
    from convergebench.metrics.no_reference.decay_reading import read_decay

    try:
        found = read_decay(frame)
    except Unmeasurable as reason:
        return MeasuredImage(name, reading._replace(detail=str(reason)), known=False)
    return MeasuredImage(name, reading, found.remakings, found.low, found.high, known=found.remakings is not None)
