"""What a measuring process gets and gives: comparisons of one source image, and their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from convergebench.images.align import AlignMode
from convergebench.metrics.base import Reading
from convergebench.metrics.place import PROCESSOR, Place
from convergebench.store.images import ImageReader


class Comparison(NamedTuple):
    """A row to be measured, with the metrics that lack a value."""

    id: str
    role: str
    subject: str
    reference: str | None
    via: str | None
    operation: str | None
    instruction: str
    before: str
    after: str
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class MeasuringTask:
    """Comparisons of one source image that are measured together."""

    images: ImageReader
    align: AlignMode
    source: str | None
    """The image that most comparisons are made with."""
    comparisons: tuple[Comparison, ...]
    files: Mapping[str, str]
    """Image id → file."""
    place: Place = PROCESSOR
    outside_run: bool = False
    """Files outside a run: an unreadable one gives a row with a status, and transparency is refused. In a run,
    transparent pictures are measured on white."""
    chains: int = 1
    """How many chains the comparisons are of."""

    def reads(self) -> dict[str, str | None]:
        """File → its image id, which must be checked."""
        return {file: identity for identity, file in self.files.items()}


Value = tuple[str, str, Reading]
"""Comparison, metric, reading."""


class MeasuredTask(NamedTuple):
    """The result of a task."""

    values: list[Value]
    """All missing values, in the order of the task."""
    chains: int
