"""`webdataset`: tar shards with `KEY.png` and `KEY.json` side by side, for streaming."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from convergebench.datasets.croissant import IMAGE_MIMES, file_object, file_records, file_set
from convergebench.datasets.features import yaml_features
from convergebench.datasets.fields import Table
from convergebench.datasets.formats.base import CroissantParts, Format, ImageContent, RowPictures, folder_of
from convergebench.datasets.names import UniqueNames, safe


@dataclass
class _Shard:
    """The shard that is being filled; without an archive it is already complete."""

    path: Path
    archive: tarfile.TarFile | None
    filled: int = 0


class WebDataset(Format):
    """A picture under the suffix it came with, its record as JSON; readers take `png;jpg;webp` for either."""

    name: ClassVar[str] = "webdataset"
    takes_rows: ClassVar[bool] = True

    def __init__(self, root: Path, splits: Sequence[str], *, editors: Sequence[str], shard_bytes: int) -> None:
        super().__init__(root, splits, editors=editors, shard_bytes=shard_bytes)
        self._open: dict[tuple[str, str], _Shard] = {}
        self._keys = UniqueNames()

    def add(self, table: Table, record: Mapping[str, Any], picture: ImageContent, suffix: str) -> None:
        """Both files, in one shard."""
        split = str(record["split"])
        described = json.dumps(dict(record), ensure_ascii=False, allow_nan=False).encode()
        archive = self._archive(table.name, split, picture.size + len(described))
        key = self._key(record)
        self.count(table, split, picture, suffix)
        if archive is not None:
            _write(archive, ((f"{key}.{suffix}", picture.read()), (f"{key}.json", described)))

    def add_row(self, table: Table, record: Mapping[str, Any], pictures: RowPictures) -> None:
        """`KEY.COLUMN.png` for each picture, `KEY.COLUMN_1.png` … for those of a list, and `KEY.json`."""
        split = str(record["split"])
        described = json.dumps(dict(record), ensure_ascii=False, allow_nan=False).encode()
        lists = {field.name for field in table.fields if field.kind == "images"}
        named = {
            (f"{column}_{number}" if column in lists else column) + f".{one.suffix}": one.content
            for column, several in pictures.items()
            for number, one in enumerate(several, start=1)
        }
        archive = self._archive(table.name, split, len(described) + sum(one.size for one in named.values()))
        key = self._keys.of(record["id"], safe(str(record["id"]).replace("/", "--")).replace(".", "_"))
        self.count_row(table, split, pictures)
        self.of(table.name, split).suffixes.update(named)
        if archive is not None:
            _write(archive, ((f"{key}.{name}", one.read()) for name, one in named.items()))
            _write(archive, [(f"{key}.json", described)])

    def _archive(self, table: str, split: str, size: int) -> tarfile.TarFile | None:
        """The shard that the next record goes into; None if an interrupted export has finished it."""
        shard = self._open.get((table, split))
        if shard is None or (shard.filled and shard.filled + size > self.shard_bytes):
            self._finish(shard)
            folder = self.root / folder_of(table) / split
            folder.mkdir(parents=True, exist_ok=True)
            files = self.of(table, split).files
            path = folder / f"{len(files):05}.tar"
            files.append(path.relative_to(self.root).as_posix())
            archive = None
            if not self.finished.has(path):
                archive = tarfile.TarFile(path, "w", format=tarfile.PAX_FORMAT)
                self.held.callback(archive.close)
            shard = self._open[(table, split)] = _Shard(path, archive)
        shard.filled += size
        return shard.archive

    def _finish(self, shard: _Shard | None) -> None:
        if shard is not None and shard.archive is not None:
            shard.archive.close()
            self.finished.add(shard.path)

    def close(self) -> None:
        """Finish the last shard of every split."""
        for shard in self._open.values():
            self._finish(shard)
        super().close()

    def _key(self, record: Mapping[str, Any]) -> str:
        """Without dots: readers split a name at its first dot."""
        chain = str(record["chain_id"])
        name = self._keys.of(chain, safe(chain.replace("/", "--")).replace(".", "_"))
        patch = f"-{record['patch_index']:02}" if "patch_index" in record else ""
        return f"{name}--{record['step_index']:03}{patch}"

    def data_files(self, table: Table, split: str) -> list[str]:
        """The split's shards."""
        return [f"{folder_of(table.name)}/{split}/*.tar"]

    def card_table(self, table: Table) -> list[dict[str, Any]]:
        """A column per suffix of a picture, the record as a whole in `json`."""
        suffixes: set[str] = set()
        for split in self.splits:
            suffixes |= self.of(table.name, split).suffixes
        pictures = [{"name": suffix, "dtype": "image"} for suffix in sorted(suffixes)]
        described = {"name": "json", "struct": yaml_features(Table(table.name, table.plain))}
        keys = [{"name": name, "dtype": "string"} for name in ("__key__", "__url__")]
        return [*pictures, described, *keys]

    def layout(self) -> Sequence[str]:
        """One kind of file."""
        return [
            "`data/SPLIT/NNNNN.tar`: per record `KEY.png` (or `.jpg`, `.webp` …), as received, and `KEY.json`",
            *(f"`{table}/SPLIT/NNNNN.tar`: `KEY.COLUMN.png` … and `KEY.json`" for table in self.other_tables()),
        ]

    def _croissant(self, table: Table, split: str, identity: str) -> CroissantParts:
        """Every shard with its checksum, and the two files of each record by their common key."""
        written = self.written[table.name, split]
        described, pictures, suffixes = f"{identity}-json", f"{identity}-pictures", sorted(written.suffixes)
        patterns, mimes = (
            [f"*.{suffix}" for suffix in suffixes],
            sorted({IMAGE_MIMES[suffix.rpartition(".")[2]] for suffix in suffixes}),
        )
        files = [
            *(file_object(self.root, shard) for shard in written.files),
            file_set(described, ["*.json"], ["application/json"], inside=written.files),
            file_set(pictures, patterns, mimes, inside=written.files),
        ]
        key = ("sc:Text", "filename", r"^([^.]*)\.")
        # readers do not parse JSON inside archives, so a record is given as a whole
        return files, [
            file_records(f"{identity}-records", described, key=key, json=("sc:Text", "content", "")),
            file_records(f"{identity}-files", pictures, key=key, image=("sc:ImageObject", "content", "")),
        ]


def _write(archive: tarfile.TarFile, files: Iterable[tuple[str, bytes]]) -> None:
    for name, data in files:
        member = tarfile.TarInfo(name)  # no time, no owner: the same records are the same bytes
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
