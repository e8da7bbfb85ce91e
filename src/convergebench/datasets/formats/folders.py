"""Pictures as single files with a table of metadata beside them: what `imagefolder` and `banana100` have in common."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, ClassVar

from convergebench.datasets.atomic import WRITING
from convergebench.datasets.checksums import file_sha256
from convergebench.datasets.croissant import IMAGE_MIMES, file_object, file_records, file_set, json_columns, record_set
from convergebench.datasets.fields import Field, Table
from convergebench.datasets.formats.base import CroissantParts, Format, ImageContent

FILE_NAME = Field("file_name", "text", "the image, relative to this table")


class FolderFormat(Format):
    """One file per picture; `metadata.jsonl` names them in `file_name`, as `datasets` expects of an image folder."""

    typed_by_info: ClassVar[bool] = False

    def __init__(self, root: Path, splits: Sequence[str], *, editors: Sequence[str], shard_bytes: int) -> None:
        super().__init__(root, splits, editors=editors, shard_bytes=shard_bytes)
        self._tables: dict[tuple[str, str], IO[str]] = {}

    @abstractmethod
    def folder(self, table: Table, split: str) -> str:
        """The folder of a split's metadata, relative to the data set; empty: its top."""

    @abstractmethod
    def place(self, table: Table, record: Mapping[str, Any]) -> str:
        """The path of a picture below that folder, without its suffix."""

    @abstractmethod
    def pattern(self, table: Table, split: str) -> str:
        """Which files are its pictures, without their suffix; `*` takes in folders too."""

    def metadata(self, table: Table, split: str) -> str:
        """The table's file, relative to the data set."""
        return "/".join(filter(None, [self.folder(table, split), "metadata.jsonl"]))

    def add(self, table: Table, record: Mapping[str, Any], picture: ImageContent, suffix: str) -> None:
        """Write the picture, then its line."""
        split = str(record["split"])
        name = f"{self.place(table, record)}.{suffix}"
        path = self.root / self.folder(table, split) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not (path.is_file() and file_sha256(path) == picture.sha256):  # left by an export that was interrupted
            part = path.with_name(f".{path.name}{WRITING}")
            part.write_bytes(picture.read())
            part.replace(path)
        self._write(table, split, {"file_name": name, **record})
        self.count(table, split, picture, suffix)

    def _write(self, table: Table, split: str, row: Mapping[str, Any]) -> None:
        key = (table.name, split)
        if key not in self._tables:
            file = (self.root / self.metadata(table, split)).open("w", encoding="utf-8")
            self._tables[key] = self.held.enter_context(file)
        self._tables[key].write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")

    def close(self) -> None:
        """Finish the tables."""
        super().close()
        for (table, split), file in self._tables.items():
            self.written[(table, split)].files = [Path(file.name).relative_to(self.root).as_posix()]

    def _croissant(self, table: Table, split: str, identity: str) -> CroissantParts:
        """The table of metadata with its checksum, and the pictures as a set of files."""
        written = self.written[table.name, split]
        (metadata,) = written.files
        pictures, suffixes = f"{identity}-pictures", sorted(written.suffixes)
        patterns = [f"{self.pattern(table, split)}.{suffix}" for suffix in suffixes]
        files = [
            file_object(self.root, metadata, identity=identity),
            file_set(pictures, patterns, [IMAGE_MIMES[suffix] for suffix in suffixes]),
        ]
        inside = ("sc:Text", "fullpath", f"^(?:{self.folder(table, split)}/)?(.*)$")
        image = ("sc:ImageObject", "content", "")
        return files, [
            record_set(identity, (FILE_NAME, *table.fields), json_columns(identity)),
            file_records(f"{pictures}-files", pictures, file_name=inside, image=image),
        ]
