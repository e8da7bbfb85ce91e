"""Writing the tables of pictured parts while a run is exported."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from convergebench.datasets.fields import Table
from convergebench.datasets.formats.base import Format, ImageContent, RowPicture
from convergebench.datasets.licences import read_licence
from convergebench.datasets.parts import ExportedChain
from convergebench.datasets.pictured import PicturedPart, PicturedRow
from convergebench.datasets.record import Rights, licence_of
from convergebench.datasets.secrets import Redactor
from convergebench.datasets.side_tables import SideTables
from convergebench.datasets.source import RunSource
from convergebench.store.images import EXTENSIONS
from convergebench.store.tables import ImageRow


class PicturedTables:
    """Rows with several pictures, written to a form that takes them; else only counted."""

    def __init__(
        self, source: RunSource, form: Format, parts: Sequence[PicturedPart], rights: Rights, redactor: Redactor
    ) -> None:
        self._source, self._form, self._redactor = source, form, redactor
        self._parts = [(part, part.begin(source, rights)) for part in parts]

    def chain(self, chain: ExportedChain, split: str) -> frozenset[int]:
        """Write the rows of a chain; returns the steps whose pictures are in them."""
        used: set[int] = set()
        for _, rows in self._parts:
            for row in rows.of_chain(chain, split):
                used |= row.steps
                if self._form.takes_rows:
                    self._write(row)
        return frozenset(used)

    def names_only(self, chain: ExportedChain) -> bool:
        """Whether rows only name the chain's source, since its licence forbids to hand it on; then no table has it."""
        return bool(self._parts) and read_licence(licence_of(chain.manifest, chain.facts.source)).closed

    def held_back(self, chains: Sequence[ExportedChain], side: SideTables) -> None:
        """Name the products of chains whose pictures may not be exported."""
        for part, rows in self._parts:
            for chain in chains:
                rows.held_back(chain)
                side.part(part.by_reference, chain)

    def tables(self) -> list[Table]:
        """Those that have rows."""
        return [
            table
            for part, _ in self._parts
            for table in part.tables
            if any(self._form.of(table.name, split).records for split in self._form.splits)
        ]

    def card(self) -> list[str]:
        """Paragraphs for the card."""
        return [paragraph for _, rows in self._parts for paragraph in rows.card()]

    def notices(self) -> list[str]:
        """What to know before publishing it, one line each."""
        written, form = self._form.takes_rows, self._form.name
        return [line for _, rows in self._parts for line in rows.notices(written=written, form=form)]

    def _write(self, row: PicturedRow) -> None:
        pictures = {name: [self._picture(one) for one in several] for name, several in row.pictures.items()}
        self._form.add_row(row.table, self._redactor.record(row.values), pictures)

    def _picture(self, picture: ImageRow) -> RowPicture:
        content = ImageContent(picture.bytes, picture.sha256, partial(self._source.read, picture))
        return RowPicture(content, EXTENSIONS[picture.mime])
