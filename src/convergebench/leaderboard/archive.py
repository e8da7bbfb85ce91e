"""Zip files of bundles: written the same every time, read as if an enemy had made them.

Nothing is extracted by name: members are read into memory under their limits, and only after the whole directory of the
file has been looked at.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from convergebench.leaderboard.layout import (
    IMAGES_FOLDER,
    MOST_BYTES,
    MOST_MEMBERS,
    MOST_RATIO,
    MOST_TEXT_BYTES,
    SIGNATURE,
    fixed_members,
)

_TIME = (1980, 1, 1, 0, 0, 0)
_IMAGE = re.compile(rf"{IMAGES_FOLDER}/[0-9a-f]{{64}}\.[a-z]{{3,4}}")
_PLAIN_FILE = (stat.S_IFREG | 0o644) << 16
_ENCRYPTED = 0x1
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x07"
"""Ends of a directory: the usual one, and one of a file with more or larger members than a bundle has."""
LONGEST_ENTRY = 200
"""Most bytes of an entry of the directory, on average."""


class BadArchive(ValueError):
    """The file is not an archive as `cbench submit` writes it; the text says why."""


def pack(members: Iterable[tuple[str, bytes]]) -> bytes:
    """A zip file with these members in this order; equal members give equal bytes. Pictures are stored as they are."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in members:
            entry = zipfile.ZipInfo(name, _TIME)
            entry.create_system, entry.external_attr = 3, _PLAIN_FILE
            entry.compress_type = zipfile.ZIP_STORED if _IMAGE.fullmatch(name) else zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=9)
    return target.getvalue()


def unpack(path: Path) -> dict[str, bytes]:
    """Every member of a bundle in its order; `BadArchive` says what is wrong with the file."""
    if path.is_symlink() or not path.is_file():
        raise BadArchive("is not a plain file")
    if path.stat().st_size > MOST_BYTES:
        raise BadArchive(f"is larger than {MOST_BYTES / 1e6:.0f} MB")
    return unpack_bytes(path.read_bytes())


def unpack_bytes(data: bytes) -> dict[str, bytes]:
    """The same for the content of a file."""
    _require_small_directory(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _require_allowed(entries)
            return {entry.filename: _content(archive, entry) for entry in entries}
    except BadArchive:
        raise
    except (
        *(zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError, OSError),
        *(ValueError, zlib.error, struct.error, UnicodeError, OverflowError),
    ) as error:
        reason = " ".join(str(error).split())[:120]
        raise BadArchive(f"is not a zip file that can be read ({reason or type(error).__name__})") from error


def _require_small_directory(data: bytes) -> None:
    """Refuse a long directory before zipfile makes an object of every entry."""
    place = data.rfind(_END, max(0, len(data) - 65_557))
    if place < 0 or len(data) - place < 22:
        raise BadArchive("is not a zip file that can be read (it has no directory at its end)")
    if len(data) - place > 22:
        raise BadArchive("has a comment behind its members")
    members, size = struct.unpack_from("<HI", data, place + 10)
    if data[place - 20 : place - 16] == _END_64 or members > MOST_MEMBERS or size > MOST_MEMBERS * LONGEST_ENTRY:
        raise BadArchive(f"has more members than the {MOST_MEMBERS:,} that are allowed")


def _require_allowed(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MOST_MEMBERS:
        raise BadArchive(f"has {len(entries):,} members; at most {MOST_MEMBERS:,} are allowed")
    names = [entry.filename for entry in entries]
    fixed = fixed_members()
    for entry in entries:
        name = _shown(entry.filename)
        if entry.orig_filename != entry.filename or not _is_known(entry.filename, fixed):
            raise BadArchive(f"has the unexpected member '{name}'")
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
            raise BadArchive(f"has the member '{name}', which is a link or a device")
        if entry.flag_bits & _ENCRYPTED:
            raise BadArchive(f"has the encrypted member '{name}'")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadArchive(f"has the member '{name}', which is packed in another way than stored or deflated")
        if entry.file_size > MOST_RATIO * max(entry.compress_size, 1_000):
            raise BadArchive(f"has the member '{name}', which unpacks to {entry.file_size / 1e6:.1f} MB: a zip bomb")
        if entry.file_size > _limit(entry.filename):
            raise BadArchive(f"has the member '{name}' of {entry.file_size / 1e6:.0f} MB, which is too large")
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise BadArchive(f"has two members '{twice[0]}'")
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise BadArchive(f"unpacks to more than {MOST_BYTES / 1e6:.0f} MB")
    lacking = [name for name in fixed if name not in names]
    if lacking:
        raise BadArchive(f"is incomplete: it has no {lacking[0]}")


def _is_known(name: str, fixed: list[str]) -> bool:
    return name in fixed or name == SIGNATURE or _IMAGE.fullmatch(name) is not None


def _limit(name: str) -> int:
    return MOST_BYTES if name.startswith(f"{IMAGES_FOLDER}/") else MOST_TEXT_BYTES


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, never more than its entry announces: a false announcement is an error."""
    with archive.open(entry) as file:
        data = file.read(entry.file_size + 1)
    if len(data) != entry.file_size:
        raise BadArchive(f"has the member '{_shown(entry.filename)}', whose size is not as announced")
    return data


def _shown(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name[:80])


def checksums_of(members: Mapping[str, bytes]) -> bytes:
    """`checksums.sha256` of these members, as `sha256sum -c` reads it."""
    import hashlib

    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in members.items()).encode()
