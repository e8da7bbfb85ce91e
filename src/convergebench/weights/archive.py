"""Extracts members of a downloaded wheel, source or npm package, within size limits and without running code."""

from __future__ import annotations

import errno
import gzip
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Self

from convergebench.errors import StudyError

LONGEST_CONTENT = 8_000_000_000
"""Most bytes that are unpacked in search of a member, or for a member of unknown size."""
LONGEST_DESCRIPTION = 1_000_000
"""Most bytes of a tar entry that only describes the next one, such as a long name."""
PIECE = 1 << 20

_DAMAGE_ERRORS = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, gzip.BadGzipFile, lzma.LZMAError),
    *(EOFError, RuntimeError),  # truncated; a password or an unknown compression
    *(ValueError, struct.error, OverflowError),  # names that are no text, numbers that are out of range
)

Opener = Callable[[], IO[bytes] | None]
"""Opens one entry; gives None for anything but a regular file."""


def unpack(archive: Path, shown: str, members: Mapping[str, int], folder: Path) -> dict[str, Path]:
    """Member → file, for the members (path in the package → size, 0 if unknown) that the archive holds.

    The archive is read once, up to the last member. Its names are compared with and without their first folder, and
    never used as paths.
    """
    numbers = {member: number for number, member in enumerate(members)}
    found: dict[str, Path] = {}
    try:
        for name, opener in _entries(archive, shown):
            member = next((one for one in (name, name.partition("/")[2]) if one in members), None)
            if member is None or member in found:
                continue
            source = opener()
            if source is None:
                raise StudyError(f"{member} is not a plain file in {shown}")
            found[member] = folder / f"member-{numbers[member]}"
            _copy(source, found[member], members[member] or LONGEST_CONTENT, f"{member} in {shown}")
            if len(found) == len(members):
                break
    except (*_DAMAGE_ERRORS, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # EINVAL: a place before the file
            raise
        raise StudyError(f"the download of {shown} is damaged ({' '.join(str(error).split())}); try again") from error
    return found


def _entries(archive: Path, shown: str) -> Iterator[tuple[str, Opener]]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            for packed in zipped.infolist():
                yield packed.filename, partial(_open_zipped, zipped, packed)
        return
    with tarfile.open(archive, tarinfo=TarMember) as tarred:
        for entry in tarred:
            name = entry.name.removeprefix("./")
            yield name, partial(tarred.extractfile, entry) if entry.isfile() else lambda: None
            if entry.offset_data + entry.size > LONGEST_CONTENT:  # before the next entry is read
                raise StudyError(f"{shown} holds more than {LONGEST_CONTENT} bytes; nothing was kept")


def _open_zipped(zipped: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    """Open a member for reading; only with these two methods does zipfile decompress no more than is read."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise StudyError(f"{entry.filename} uses an unsupported compression in its package")
    return zipped.open(entry)


def _copy(source: IO[bytes], target: Path, size: int, shown: str) -> None:
    with source, target.open("wb") as file:
        while piece := source.read(PIECE):
            file.write(piece)
            if file.tell() > size:
                raise StudyError(f"{shown} is longer than the {size} bytes it should have")


class TarMember(tarfile.TarInfo):
    """A tar entry; those that only describe the next entry are read into memory, so their size is limited."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """As in tarfile, but rejects a description that would fill the memory."""
        found = super().frombuf(buf, encoding, errors)
        if not (found.isreg() or found.isdir()) and found.size > LONGEST_DESCRIPTION:
            raise tarfile.ReadError(f"a description of {found.size} bytes")
        return found
