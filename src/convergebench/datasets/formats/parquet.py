"""`parquet`: shards that hold the picture's bytes in the column `image`, which `datasets` shows as an image."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from convergebench.datasets.croissant import file_object, parquet_columns, record_set
from convergebench.datasets.features import arrow_schema
from convergebench.datasets.fields import Table
from convergebench.datasets.finished_shards import FinishedShards
from convergebench.datasets.formats.base import CroissantParts, Format, ImageContent, RowPicture, RowPictures, folder_of

GROUP_ROWS = 100
GROUP_BYTES = 16 << 20
"""Limits of a row group, which a reader has to load at once."""


class _Shards:
    """The shards of one split: a group of rows in memory, the rest on the disk."""

    def __init__(self, folder: Path, split: str, schema: pa.Schema, shard_bytes: int, finished: FinishedShards) -> None:
        self._folder, self._split, self._schema, self._limit = folder, split, schema, shard_bytes
        self._finished = finished
        self._rows: list[dict[str, Any]] = []
        self._held = self._filled = 0
        self._writer: pq.ParquetWriter | None = None
        self._parts: list[Path] = []
        self._there = self._begun = False

    def add(self, row: Callable[[], dict[str, Any]], size: int) -> None:
        full = self._filled + self._held
        if full and full + size > self._limit:
            self.finish()
        if not self._begun:
            self._begin()
        self._held += size
        if self._there:
            return
        self._rows.append(row())
        if len(self._rows) >= GROUP_ROWS or self._held >= GROUP_BYTES:
            self._flush()

    def _begin(self) -> None:
        """Start the next shard; one that an interrupted export has finished, perhaps under its final name, is kept."""
        part = self._folder / f"{self._split}-{len(self._parts):05}.part"
        for named in self._folder.glob(f"{part.stem}-of-*.parquet"):
            named.rename(part)
        self._parts.append(part)
        self._there, self._begun = self._finished.has(part), True

    def _flush(self) -> None:
        if not self._rows:
            return
        if self._writer is None:
            # dictionaries and statistics of the pictures would be useless
            described = [field.name for field in self._schema if not _holds_pictures(field.type)]
            part = self._parts[-1]
            self._writer = pq.ParquetWriter(part, self._schema, use_dictionary=described, write_statistics=described)
        self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
        self._filled += self._held
        self._rows, self._held = [], 0

    def finish(self) -> None:
        self._flush()
        self.release()
        if self._begun and not self._there:
            self._finished.add(self._parts[-1])
        self._held, self._begun = 0, False

    def release(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer, self._filled = None, 0

    def named(self) -> list[Path]:
        """Rename the shards to their final names, which include their number."""
        total = len(self._parts)
        names = [self._folder / f"{self._split}-{index:05}-of-{total:05}.parquet" for index in range(total)]
        return [part.rename(name) for part, name in zip(self._parts, names, strict=True)]


class Parquet(Format):
    """For `datasets`, Polars, DuckDB, Spark: one table with everything in it."""

    name: ClassVar[str] = "parquet"
    takes_rows: ClassVar[bool] = True

    def __init__(self, root: Path, splits: Sequence[str], *, editors: Sequence[str], shard_bytes: int) -> None:
        super().__init__(root, splits, editors=editors, shard_bytes=shard_bytes)
        self._shards: dict[tuple[str, str], _Shards] = {}

    def add(self, table: Table, record: Mapping[str, Any], picture: ImageContent, suffix: str) -> None:
        """One row."""
        split = str(record["split"])

        def row() -> dict[str, Any]:
            return {"image": _cell(record, RowPicture(picture, suffix)), **record}

        self._shards_of(table, split).add(row, picture.size)
        self.count(table, split, picture, suffix)

    def add_row(self, table: Table, record: Mapping[str, Any], pictures: RowPictures) -> None:
        """One row with its pictures in columns of their own."""
        split = str(record["split"])

        def row() -> dict[str, Any]:
            cells: dict[str, Any] = dict(record)
            for field in table.fields:
                held = [
                    _cell(record, one, f"-{field.name}-{at}") for at, one in enumerate(pictures.get(field.name, ()))
                ]
                if field.kind == "images":
                    cells[field.name] = held
                elif field.kind == "image":
                    cells[field.name] = held[0] if held else None
            return cells

        size = sum(one.content.size for several in pictures.values() for one in several)
        self._shards_of(table, split).add(row, size)
        self.count_row(table, split, pictures)

    def _shards_of(self, table: Table, split: str) -> _Shards:
        if (table.name, split) not in self._shards:
            folder = self.root / folder_of(table.name)
            folder.mkdir(parents=True, exist_ok=True)
            shards = _Shards(folder, split, arrow_schema(table), self.shard_bytes, self.finished)
            self.held.callback(shards.release)
            self._shards[(table.name, split)] = shards
        return self._shards[(table.name, split)]

    def close(self) -> None:
        """Finish and name the shards."""
        for shards in self._shards.values():
            shards.finish()
        super().close()
        for key, shards in self._shards.items():
            self.written[key].files = [path.relative_to(self.root).as_posix() for path in shards.named()]

    def data_files(self, table: Table, split: str) -> list[str]:
        """The split's shards."""
        return [f"{folder_of(table.name)}/{split}-*.parquet"]

    def layout(self) -> Sequence[str]:
        """One kind of file."""
        return [
            "`data/SPLIT-NNNNN-of-NNNNN.parquet`: the records; the column `image` has the bytes as received",
            *(f"`{table}/`: the same for the table `{table}`" for table in self.other_tables()),
        ]

    def _croissant(self, table: Table, split: str, identity: str) -> CroissantParts:
        """Every shard with its checksum, and one record set over all of them."""
        shards = {
            "@type": "cr:FileSet",
            "@id": identity,
            "name": identity,
            "encodingFormat": "application/x-parquet",
            "includes": f"{folder_of(table.name)}/{split}-*.parquet",
        }
        files = [file_object(self.root, shard) for shard in self.written[table.name, split].files]
        return [*files, shards], [record_set(identity, table.fields, parquet_columns(identity), image=table.pictures)]


def _cell(record: Mapping[str, Any], picture: RowPicture, mark: str = "") -> dict[str, Any]:
    path = f"{record['id']}{mark}.{picture.suffix}".replace("/", "--")
    return {"bytes": picture.content.read(), "path": path}


def _holds_pictures(kind: pa.DataType) -> bool:
    inner = kind.value_type if pa.types.is_list(kind) else kind
    return bool(pa.types.is_struct(inner) and inner.get_field_index("bytes") >= 0)
