"""The interface of export formats: records are added one by one, and what was written is reported at the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from convergebench.datasets.fields import Table
from convergebench.datasets.finished_shards import FinishedShards

FOLDERS = {"steps": "data"}
"""Where the records of a table go, below the data set, if not into a folder of its own name."""
CroissantParts = tuple[list[dict[str, Any]], list[dict[str, Any]]]
"""Distribution and record sets."""


class ImageContent(NamedTuple):
    """A picture that is read only if it has to be written."""

    size: int
    sha256: str
    read: Callable[[], bytes]


class RowPicture(NamedTuple):
    """A picture of a row that may have several; `suffix` says what it is, such as `png`."""

    content: ImageContent
    suffix: str


RowPictures = Mapping[str, Sequence[RowPicture]]
"""Column → its pictures: none or one, or a list."""


def folder_of(table: str) -> str:
    """The folder of a table's records, below the data set."""
    return FOLDERS.get(table, table)


@dataclass
class WrittenSplit:
    """The totals of one split of a table."""

    records: int = 0
    bytes: int = 0
    """Of the pictures."""
    files: list[str] = field(default_factory=list)
    """Files with the records, relative to the data set: shards or the table of metadata; not single pictures."""
    suffixes: set[str] = field(default_factory=set)
    """Of the pictures, such as `png`."""


class Format(ABC):
    """Writes records with their pictures below `root`. Pictures are the bytes as given, never re-encoded."""

    name: ClassVar[str]
    typed_by_info: ClassVar[bool] = True
    """Whether `datasets` takes the columns' types from the card's `dataset_info`; else from its `configs`."""
    takes_rows: ClassVar[bool] = False
    """Whether it can write rows with several pictures."""
    rows_only: ClassVar[bool] = False
    """Whether it writes nothing but such rows: a picture that is in no row is left out."""

    def __init__(self, root: Path, splits: Sequence[str], *, editors: Sequence[str], shard_bytes: int) -> None:
        self.root, self.splits, self.shard_bytes = root, tuple(splits), shard_bytes
        self.editors = tuple(editors)
        self.held = ExitStack()
        """Files that are open."""
        self.written: dict[tuple[str, str], WrittenSplit] = {}
        """(table, split) → what is there."""
        self.finished = FinishedShards(root)
        """Shards that an interrupted export completed."""

    @abstractmethod
    def add(self, table: Table, record: Mapping[str, Any], picture: ImageContent, suffix: str) -> None:
        """One more record; `suffix` says what the picture is, such as `png`."""

    def add_row(self, table: Table, record: Mapping[str, Any], pictures: RowPictures) -> None:
        """One more row with several pictures; only where `takes_rows` is true."""
        raise NotImplementedError(f"{self.name} takes only single images")

    def close(self) -> None:
        """Finish every file."""
        self.held.close()

    def __enter__(self) -> Format:
        return self

    def __exit__(self, kind: object, *failure: object) -> None:
        """Close files; after an error they are not finished."""
        if kind is None:
            self.close()
        else:
            self.held.close()

    @abstractmethod
    def data_files(self, table: Table, split: str) -> list[str]:
        """Patterns under which `datasets` finds a split."""

    def card_table(self, table: Table) -> list[dict[str, Any]]:
        """The columns as `datasets` will show them, for the card's front matter."""
        from convergebench.datasets.features import yaml_features

        return yaml_features(table)

    @abstractmethod
    def layout(self) -> Sequence[str]:
        """The files of the set, a line each, for the card."""

    def croissant(self, table: Table) -> CroissantParts:
        """The description of a table for the Croissant file."""
        splits = [split for split in self.splits if (table.name, split) in self.written]
        found = [self._croissant(table, split, f"{table.name}-{split}") for split in splits]
        return [file for files, _ in found for file in files], [one for _, sets in found for one in sets]

    @abstractmethod
    def _croissant(self, table: Table, split: str, identity: str) -> CroissantParts:
        """The description of one split; `identity` is its name there."""

    def side_table(self, table: Table, file: Path) -> Path:
        """Convert a table without pictures, given as CSV or JSON lines; by default it is kept."""
        return file

    def other_tables(self) -> list[str]:
        """Tables with rows of several pictures, beside steps and patches."""
        return sorted({table for table, _ in self.written} - {"steps", "patches"})

    def of(self, table: str, split: str) -> WrittenSplit:
        """The totals of a split so far."""
        return self.written.setdefault((table, split), WrittenSplit())

    def count(self, table: Table, split: str, picture: ImageContent, suffix: str) -> None:
        """Count one more record."""
        written = self.of(table.name, split)
        written.records += 1
        written.bytes += picture.size
        written.suffixes.add(suffix)

    def count_row(self, table: Table, split: str, pictures: RowPictures) -> None:
        """Count one more row."""
        written = self.of(table.name, split)
        written.records += 1
        written.bytes += sum(one.content.size for several in pictures.values() for one in several)
