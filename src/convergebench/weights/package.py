"""Taking files out of a registry package without installing it and without running any of it.

`pip install` would bring the package's own dependencies along, and `pip download` runs the build script of a source
package. All that is wanted here is a few members of an archive, so the package index (PEP 503) is read directly: the
one that pip is set up to use.
"""

from __future__ import annotations

import gzip
import lzma
import os
import re
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import IO, NamedTuple, Self
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit

from convergebench.errors import Prerequisite, StudyError

LONGEST_MEMBER = 8_000_000_000
"""Bytes that are unpacked of a file whose size nobody knows beforehand."""
LONGEST_DESCRIPTION = 1_000_000
"""Bytes of a long name and the like in a tar file."""

_DAMAGED = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, gzip.BadGzipFile, lzma.LZMAError),
    *(EOFError, KeyError, RuntimeError),  # cut short, a link to nowhere, a password or a method nobody knows
)

Download = Callable[[str, Path, str], None]
"""Address, where to put it, sha256 or nothing."""
ReadPage = Callable[[str], tuple[str, str]]
"""Address → the address that answered in the end, and the page."""


class Archive(NamedTuple):
    """One file of a release."""

    name: str
    address: str
    sha256: str

    @property
    def is_wheel(self) -> bool:
        """Wheels are zip files, source packages tar files."""
        return self.name.endswith(".whl")


def take_out(
    package: str,
    version: str,
    members: Mapping[str, int],
    folder: Path,
    *,
    read_page: ReadPage,
    download: Download,
) -> list[Path]:
    """Download a release and unpack these members (name → size, 0 if unknown); wheels before source packages."""
    for number, archive in enumerate(sorted(archives(package, version, read_page), key=lambda one: not one.is_wheel)):
        target = folder / f"archive-{number}"
        download(archive.address, target, archive.sha256)
        unpacked = _unpack(target, archive.name, members, folder)
        target.unlink()
        if unpacked is not None:
            return unpacked
    raise Prerequisite(f"{package} {version} no longer holds {', '.join(members)}")


def archives(package: str, version: str, read_page: ReadPage) -> list[Archive]:
    """The files of one release, from the first index that has it; `Prerequisite` with every reason if none has."""
    reasons = []
    for index in index_addresses():
        asked = f"{index.rstrip('/')}/{_normal(package)}/"
        try:
            address, page = read_page(asked)
        except Prerequisite as error:
            reasons.append(str(error))
            continue
        links = _Links()
        links.feed(page)
        found = []
        for reference, text in links.found:
            plain, fragment = urldefrag(urljoin(address, reference))
            name = text or unquote(plain.rpartition("/")[2])
            if _is_release(name, package, version):
                checksum = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""
                found.append(Archive(name, _with_credentials(plain, address), checksum))
        if found:
            return found
        reasons.append(f"{without_credentials(asked)} has no {package} {version}")
    raise Prerequisite("; ".join(reasons) or "no package index is known here; set PIP_INDEX_URL to the one you use")


def _is_release(name: str, package: str, version: str) -> bool:
    """Whether a file of that name is this very version: 0.1.1 and 0.10 are not 0.1."""
    if name.endswith(".whl"):
        return [_normal(part) for part in name.split("-")[:2]] == [_normal(package), _normal(version)]
    plain, ending = re.subn(r"\.(tar\.(gz|bz2|xz)|tgz|zip)$", "", name)
    return bool(ending) and _normal(plain) == _normal(f"{package}-{version}")


def _with_credentials(address: str, index: str) -> str:
    """A link back to the index's own host is asked for under the same name, as pip does."""
    parts, asked = urlsplit(address), urlsplit(index)
    same = (parts.scheme, parts.netloc) == (asked.scheme, asked.netloc.rpartition("@")[2])
    return urlunsplit(parts._replace(netloc=asked.netloc)) if same else address


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def index_addresses() -> list[str]:
    """The indexes pip would ask, in its order: environment, configuration files, its own default."""
    first, more = os.environ.get("PIP_INDEX_URL"), os.environ.get("PIP_EXTRA_INDEX_URL")
    settings = {} if first and more is not None else _pip_settings()
    first = first or settings.get("index-url") or _pip_default()
    more = settings.get("extra-index-url", "") if more is None else more
    return [one for one in (first, *more.split()) if one.startswith(("http://", "https://", "file:"))]


def without_credentials(address: str) -> str:
    """An address fit to be shown: without name and password, and without what follows a question mark."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "an address that is none"
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def _pip_settings() -> dict[str, str]:
    answer = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False, timeout=60
    )
    settings = {}
    for line in answer.stdout.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        if section in ("global", "install", "download", ":env:"):
            settings[name] = value.strip("'\"").replace("\\n", " ")
    return settings


def _pip_default() -> str:
    code = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    if answer.returncode:
        raise Prerequisite("no package index is known here; set PIP_INDEX_URL to the one you use")
    return answer.stdout.strip()


class _Links(HTMLParser):
    """(href, text) of every link of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._href: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self._href = dict(attrs).get("href")

    def handle_data(self, data: str) -> None:
        if self._href is not None:
            self.found.append((self._href, data.strip()))
            self._href = None


def _unpack(path: Path, shown: str, members: Mapping[str, int], folder: Path) -> list[Path] | None:
    """The members as files, or None if one of them is not in this archive."""
    unpacked = []
    try:
        with _reader(path) as archive:
            for number, (member, size) in enumerate(members.items()):
                name = next((one for one in archive.names if one == member or one.endswith(f"/{member}")), None)
                if name is None:
                    return None
                target = folder / f"member-{number}"
                archive.copy(name, target, size)
                unpacked.append(target)
    except _DAMAGED as error:
        raise StudyError(f"the download {shown} is damaged ({' '.join(str(error).split())}); try again") from error
    return unpacked


class _Reader:
    """A zip or a tar, alike."""

    def __init__(self, names: list[str], opener: Callable[[str], IO[bytes] | None], close: Callable[[], None]) -> None:
        self.names, self._opener, self._close = names, opener, close

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def copy(self, name: str, target: Path, size: int) -> None:
        """One member, a piece at a time and no more than `size` of it: an archive can hold far more than it weighs."""
        source = self._opener(name)
        if source is None:
            raise StudyError(f"{name} is not a plain file in its package")
        with source, target.open("wb") as file:
            while piece := source.read(1 << 20):
                file.write(piece)
                if file.tell() > (size or LONGEST_MEMBER):
                    longest = size or LONGEST_MEMBER
                    raise StudyError(f"{name} in its package is longer than the {longest} bytes it should have")


class Member(tarfile.TarInfo):
    """A member of a tar file. The entries that only describe the next one are read whole, so they must be short."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """As tarfile reads it, unless it would fill the memory."""
        found = super().frombuf(buf, encoding, errors)
        if not (found.isreg() or found.isdir()) and found.size > LONGEST_DESCRIPTION:
            raise tarfile.ReadError(f"a description of {found.size} bytes")
        return found


def _reader(path: Path) -> _Reader:
    if zipfile.is_zipfile(path):
        zipped = zipfile.ZipFile(path)
        return _Reader(zipped.namelist(), partial(_opened, zipped), zipped.close)
    tarred = tarfile.open(path, tarinfo=Member)  # noqa: SIM115 (the reader closes it)
    return _Reader(tarred.getnames(), tarred.extractfile, tarred.close)


def _opened(zipped: zipfile.ZipFile, name: str) -> IO[bytes]:
    """A member that is unpacked no further than it is read, which zipfile does for these two ways of packing."""
    if zipped.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise StudyError(f"{name} is packed in an unusual way in its package")
    return zipped.open(name)
