"""`imagefolder`: `data/SPLIT/CHAIN/STEP.png` and a table of metadata per split, in Hugging Face's convention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from convergebench.datasets.features import polars_schema
from convergebench.datasets.fields import Table
from convergebench.datasets.formats.base import ImageContent, folder_of
from convergebench.datasets.formats.folders import FILE_NAME, FolderFormat
from convergebench.datasets.names import UniqueNames, safe


class ImageFolder(FolderFormat):
    """Pictures to look at with any viewer."""

    name: ClassVar[str] = "imagefolder"

    def __init__(self, root: Path, splits: Sequence[str], *, editors: Sequence[str], shard_bytes: int) -> None:
        super().__init__(root, splits, editors=editors, shard_bytes=shard_bytes)
        self._chains = UniqueNames()
        self._kinds: dict[str, Table] = {}

    def folder(self, table: Table, split: str) -> str:
        """`data/train`."""
        return f"{folder_of(table.name)}/{split}"

    def place(self, table: Table, record: Mapping[str, Any]) -> str:
        """`sim-jpeg--coffee--replicate--0/017`."""
        chain = str(record["chain_id"])
        patch = f"_{record['patch_index']:02}" if "patch_index" in record else ""
        return f"{self._chains.of(chain, safe(chain.replace('/', '--')))}/{record['step_index']:03}{patch}"

    def pattern(self, table: Table, split: str) -> str:
        """Everything below the split's folder."""
        return f"{self.folder(table, split)}/*"

    def add(self, table: Table, record: Mapping[str, Any], picture: ImageContent, suffix: str) -> None:
        """Write the picture, then its line."""
        self._kinds[table.name] = table
        super().add(table, record, picture, suffix)

    def close(self) -> None:
        """Finish the tables; of several splits each becomes Parquet.

        `datasets` guesses the types of JSON lines file by file and refuses splits that look different, which a column
        without a value in one of them does.
        """
        super().close()
        if len(self.splits) == 1:
            return
        import polars as pl

        for (table, _), written in self.written.items():
            (lines,) = written.files
            schema = polars_schema(Table(table, (FILE_NAME, *self._kinds[table].fields)))
            kept = Path(lines).with_suffix(".parquet")
            pl.scan_ndjson(self.root / lines, schema=schema).sink_parquet(self.root / kept)
            (self.root / lines).unlink()
            written.files = [kept.as_posix()]

    def data_files(self, table: Table, split: str) -> list[str]:
        """Everything below the split's folder."""
        return [f"{self.folder(table, split)}/**"]

    def layout(self) -> Sequence[str]:
        """Two kinds of file."""
        kind = "jsonl" if len(self.splits) == 1 else "parquet"
        return [
            "`data/SPLIT/CHAIN/STEP.png` (or `.jpg`, `.webp` …): the images as received, `000` the untouched source",
            f"`data/SPLIT/metadata.{kind}`: one record per image, named by `file_name`",
        ]
