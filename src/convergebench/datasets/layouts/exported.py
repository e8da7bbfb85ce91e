"""Data sets of `cbench export` in any format: folders of pictures, Parquet, WebDataset, a Hub repository."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from convergebench.datasets.chains import FoundChains
from convergebench.datasets.layouts import SetLocation
from convergebench.datasets.layouts._records import SetRecord, gather
from convergebench.datasets.pictures import LARGEST, in_part, in_table, looked_up
from convergebench.datasets.rows import Row, columns_of, parse_json, read_rows
from convergebench.errors import StudyError

LOOKS_FOR = "tables or tar files of `cbench export` (chain_id, variant, step_index, with file_name or an image)"
ORIGIN = "convergebench export"

_MARKS = frozenset({"chain_id", "variant", "step_index"})
_PATCHES = "patch_index"


def recognise(place: SetLocation) -> str | None:
    """Its columns, inside tables or inside tar files."""
    tables = _tables(place)
    if tables:
        return f"{place.inside(tables[0])} with chain_id, variant and step_index"
    archives = _archives(place)
    return f"{place.inside(archives[0])} with records and pictures" if archives else None


def read(place: SetLocation, images: Path | None) -> FoundChains:
    """Every chain, from any format; patches are ignored."""
    records = [record for path in _tables(place) for record in _read_table(path, images or path.parent)]
    records += [record for path in _archives(place) for record in _read_archive(path)]
    return gather(records, origin=ORIGIN)


def _tables(place: SetLocation) -> list[Path]:
    """Tables of steps; JSON lines are preferred to a CSV of the same name, since they have types."""
    found = [path for path, columns in place.tables.items() if columns >= _MARKS and _PATCHES not in columns]
    return [path for path in found if path.suffix != ".csv" or path.with_suffix(".jsonl") not in found]


def _read_table(path: Path, root: Path) -> Iterator[SetRecord]:
    columns = columns_of(path)
    inside = "image" in columns and path.suffix == ".parquet"
    needed = [column for column in columns if column != "image"] if inside else None
    for number, row in enumerate(read_rows(path, needed)):
        where = f"{path}, row {number}" if path.suffix == ".parquet" else f"{path}, line {number + 1}"
        if inside:
            yield SetRecord(row, in_table(path, "image", number), where)
        elif "file_name" in row:
            picture, fault = looked_up(root, str(row["file_name"]), "download the whole data set")
            yield SetRecord(row, picture, where, fault)
        else:  # the steps that gave no picture
            yield SetRecord(row, None, where)


def _archives(place: SetLocation) -> list[Path]:
    return [path for path in place.files if path.suffix == ".tar" and _is_ours(path)]


def _is_ours(path: Path) -> bool:
    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                if member.name.endswith(".json"):
                    row = _row(archive, member)
                    return row.keys() >= _MARKS and _PATCHES not in row
    except (OSError, tarfile.TarError, StudyError):
        pass
    return False


def _read_archive(path: Path) -> Iterator[SetRecord]:
    try:
        with tarfile.open(path, "r:") as archive:
            members = [member for member in archive if member.isfile()]
            pictures = {_key(member): member for member in members if not member.name.endswith(".json")}
            for member in members:
                if not member.name.endswith(".json"):
                    continue
                where = f"{path}: {member.name}"
                beside = pictures.get(_key(member))
                picture = in_part(path, beside.name, beside.offset_data, beside.size) if beside else None
                fault = "" if picture else "no image next to it; download the shard again"
                try:
                    yield SetRecord(_row(archive, member), picture, where, fault)
                except StudyError as error:  # its chain is unknown: it becomes one of its own
                    yield SetRecord({"chain_id": where}, picture, where, str(error))
    except (OSError, tarfile.TarError) as error:
        raise StudyError(f"cannot read {path}: {error}; download the shard again") from error


def _key(member: tarfile.TarInfo) -> str:
    return str(PurePosixPath(member.name).with_suffix(""))


def _row(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Row:
    if member.size > LARGEST:  # a sparse member may claim any size
        raise StudyError(f"{member.name} has {member.size >> 20:,} MiB; download the shard again")
    stream = archive.extractfile(member)
    try:
        content = parse_json(stream.read() if stream is not None else b"")
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{member.name} is not valid JSON ({error})") from error
    if not isinstance(content, dict):
        raise StudyError(f"{member.name} should be an object")
    return content
