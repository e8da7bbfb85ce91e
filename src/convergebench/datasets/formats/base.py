"""What every form of a data set does: take records one by one, and say in the end what it wrote."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, NamedTuple

from convergebench.datasets.fields import Table
from convergebench.datasets.unfinished import Finished

FOLDERS = {"steps": "data", "patches": "patches"}
"""Where the records of each table go, below the data set."""


class Content(NamedTuple):
    """A picture that is read only if it has to be written."""

    size: int
    sha256: str
    read: Callable[[], bytes]


@dataclass
class Written:
    """What a split of a table came to."""

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

    def __init__(self, root: Path, splits: Sequence[str], *, editors: Sequence[str], shard_bytes: int) -> None:
        self.root, self.splits, self.shard_bytes = root, tuple(splits), shard_bytes
        self.editors = tuple(editors)
        self.held = ExitStack()
        """Files that are open."""
        self.written: dict[tuple[str, str], Written] = {}
        """(table, split) → what is there."""
        self.finished = Finished(root)
        """Shards that an interrupted export left whole."""

    @abstractmethod
    def add(self, table: Table, record: Mapping[str, Any], picture: Content, suffix: str) -> None:
        """One more record; `suffix` says what the picture is, such as `png`."""

    def close(self) -> None:
        """No more will come: finish every file."""
        self.held.close()

    def __enter__(self) -> Format:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of files, also when writing was broken off."""
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
        """What lies where, a line each, for the card."""

    @abstractmethod
    def croissant(self, table: Table) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """(distribution, record sets) of a table for the Croissant file."""

    def side_table(self, table: Table, file: Path) -> Path:
        """What becomes of a table without pictures, given as CSV or JSON lines; here: it stays as it is."""
        return file

    def of(self, table: str, split: str) -> Written:
        """What a split of a table came to so far."""
        return self.written.setdefault((table, split), Written())

    def count(self, table: Table, split: str, picture: Content, suffix: str) -> None:
        """Note one more record."""
        written = self.of(table.name, split)
        written.records += 1
        written.bytes += picture.size
        written.suffixes.add(suffix)
