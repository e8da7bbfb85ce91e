"""Reading the images of a set from files, tables and archives, each only when it is needed."""

from __future__ import annotations

import os
import struct
import threading
import zipfile
import zlib
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath

import polars as pl

from convergebench.datasets.chains import Picture
from convergebench.errors import StudyError
from convergebench.images.cells import cell_of
from convergebench.images.folder import SUFFIXES
from convergebench.images.inside import is_inside, leads_out
from convergebench.images.parquet_bounds import require_plausible_size
from convergebench.images.table_errors import table_errors

BLOCK_BYTES = 64 << 20
"""Approximate size of a block of table rows that are read together: one row alone would cost as much."""
BLOCKS = 8
"""Cached blocks."""

LARGEST = 512 << 20
"""Largest size of a picture in bytes: an archive may claim more than fits into memory."""

_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods that can be read in part."""
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, struct.error)
"""What Python's reader raises on damaged archives."""
_READING = threading.Lock()


def is_image(path: Path) -> bool:
    """Whether the name is that of an image file; hidden files are not."""
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".")


def in_file(path: Path) -> Picture:
    """A plain file."""
    return Picture(str(path), partial(_read_file, path))


def in_folder(root: Path, name: str) -> Picture | None:
    """The file that a set names relative to its folder, None if it is not there; a name may not lead out of it."""
    relative = PurePosixPath(name)
    if leads_out(name):
        raise StudyError(f"'{name}' is outside {root}; a data set may only name files inside its own folder")
    path = root.joinpath(*relative.parts)
    try:
        there = path.is_file()
    except (OSError, ValueError):  # too long for a file name
        there = False
    if not there:
        return None
    if not is_inside(root, path):
        raise StudyError(f"'{name}' is a link that leads out of {root}; put the file itself there")
    return in_file(path)


def looked_up(root: Path, name: str, missing: str) -> tuple[Picture | None, str]:
    """The file that a row names, and its fault, if any: a fault must only affect its own chain."""
    try:
        picture = in_folder(root, name)
    except StudyError as error:
        return None, str(error)
    return picture, "" if picture is not None else f"no file {root / name}; {missing}"


def in_zip(archive: Path, name: str) -> Picture:
    """A member of a ZIP archive."""
    return Picture(f"{archive}: {name}", partial(_read_zip, archive, name))


def in_part(archive: Path, name: str, offset: int, size: int) -> Picture:
    """A byte range of an uncompressed archive, such as a member of a tar file."""
    return Picture(f"{archive}: {name}", partial(_read_part, archive, offset, size))


def in_table(path: Path, column: str, row: int) -> Picture:
    """An image inside a Parquet table: bare bytes, or a struct of `bytes` and `path` as the Hub has it."""
    return Picture(f"{path}, row {row}, {column}", partial(_read_cell, path, column, row))


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            return stream.read(_checked_size(size, str(path)))
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror or error}") from error


def _read_zip(archive: Path, name: str) -> bytes:
    try:
        with zipfile.ZipFile(archive) as opened:
            member = opened.getinfo(name)
            if member.compress_type not in _PACKED:
                raise StudyError(f"{name} in {archive} uses an unsupported compression method; pack it again with zip")
            size = _checked_size(member.file_size, f"{name} in {archive}")
            with opened.open(member) as stream:
                return stream.read(size + 1)  # one more byte, so that the checksum is verified at the end
    except (
        OSError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        KeyError,
        RuntimeError,
        ValueError,
        struct.error,
    ) as error:
        raise StudyError(f"cannot read {name} from {archive}: {error}") from error


def _read_part(archive: Path, offset: int, size: int) -> bytes:
    try:
        with archive.open("rb") as stream:
            stream.seek(offset)
            return stream.read(_checked_size(size, f"a part of {archive}"))
    except OSError as error:
        raise StudyError(f"cannot read {archive}: {error.strerror or error}") from error


def _checked_size(size: int, what: str) -> int:
    if size > LARGEST:
        raise StudyError(
            f"{what} has {size >> 20:,} MiB, more than the {LARGEST >> 20:,} allowed for an image; remove it"
        )
    return size


def _read_cell(path: Path, column: str, row: int) -> bytes:
    with _READING:  # so that several threads read a block once
        stamp = path.stat().st_mtime_ns
        rows = _rows_at_once(path, stamp)
        value = cell_of(_block(path, stamp, column, row // rows, rows), row % rows, f"{path}, row {row}, {column}")
    if isinstance(value, Mapping):
        name = value.get("path")
        value = value.get("bytes")
        if value is None and isinstance(name, str) and name:
            beside = in_folder(path.parent, name)
            value = beside.read() if beside is not None else None
    if not isinstance(value, bytes):
        raise StudyError(f"{path}, row {row}: {column} holds no image")
    return value


@lru_cache(maxsize=1024)
def _rows_at_once(path: Path, stamp: int) -> int:
    with table_errors(path):
        rows = int(pl.scan_parquet(path).select(pl.len()).collect().item())
    return max(1, min(rows, BLOCK_BYTES * rows // max(1, path.stat().st_size)))


@lru_cache(maxsize=BLOCKS)
def _block(path: Path, stamp: int, column: str, number: int, rows: int) -> pl.Series:
    """As a Polars column: only the requested cell becomes a Python object."""
    require_plausible_size(path, (column,))
    with table_errors(path):
        return pl.scan_parquet(path).select(column).slice(number * rows, rows).collect().get_column(column)
