"""A pictured part: tables whose rows hold several pictures each, such as the pairs of a preference set.

A study names such a part among its exports. Forms that know only single pictures leave these tables out and say so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convergebench.datasets.fields import Table
from convergebench.datasets.parts import ExportedChain, ExportPart
from convergebench.datasets.record import Rights
from convergebench.datasets.source import RunSource
from convergebench.store.tables import ImageRow


@dataclass(frozen=True)
class PicturedRow:
    """One row: its columns, and the pictures of each picture column."""

    table: Table
    values: Mapping[str, Any]
    pictures: Mapping[str, Sequence[ImageRow]]
    steps: frozenset[int] = field(default_factory=frozenset)
    """The steps of the chain whose pictures it holds; 0 is the source."""


class PicturedRows(ABC):
    """The rows of one export, chain by chain; what is left out is counted."""

    @abstractmethod
    def of_chain(self, chain: ExportedChain, split: str) -> Iterator[PicturedRow]:
        """The rows that a chain gives."""

    @abstractmethod
    def held_back(self, chain: ExportedChain) -> None:
        """Count a chain whose licence keeps its pictures out of the set; its rows go to `by_reference`."""

    @abstractmethod
    def card(self) -> list[str]:
        """Paragraphs for the data set's card."""

    @abstractmethod
    def notices(self, *, written: bool, form: str) -> list[str]:
        """What to know before publishing it; `written`: whether the form takes such rows."""


@dataclass(frozen=True)
class PicturedPart:
    """The tables, the rows, and the table of what may only be named and not shown."""

    tables: tuple[Table, ...]
    begin: Callable[[RunSource, Rights], PicturedRows]
    by_reference: ExportPart
