"""Taking files out of an npm package without npm, without installing it and without running any of it.

The registry's own document says where the archive of a version lies and what its checksum is. The archive is read once
from front to back, and no further than the last file that is wanted.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import json
import tarfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol
from urllib.parse import urljoin, urlsplit, urlunsplit

from convergebench.errors import Prerequisite, StudyError
from convergebench.weights.npmrc import DEFAULT, credentials, registry_of, settings
from convergebench.weights.package import Member, without_credentials

LONGEST_ARCHIVE = 2_000_000_000
"""Bytes of a download; nobody says beforehand how long it is."""
LONGEST_CONTENT = 8_000_000_000
"""Bytes that are unpacked in search of a file."""
PIECE = 1 << 20

_DAMAGED = (tarfile.TarError, zlib.error, gzip.BadGzipFile, EOFError)
_STRONGEST_FIRST = ("sha512", "sha384", "sha256", "sha1")
_ACCEPT = {"Accept": "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*; q=0.1"}

Download = Callable[[str, Path, int, Mapping[str, str]], None]
"""Address, where to put it, longest that is taken, headers."""


class ReadPage(Protocol):
    """Address and headers → the address that answered in the end, and the page."""

    def __call__(self, address: str, headers: Mapping[str, str]) -> tuple[str, str]:
        """Read it."""


class Release(NamedTuple):
    """The archive of one version."""

    address: str
    algorithm: str
    """Empty: the registry gives no checksum."""
    checksum: str


def take_out(
    package: str, version: str, members: Mapping[str, int], folder: Path, *, read_page: ReadPage, download: Download
) -> list[Path]:
    """Download a version and unpack these members (path in it → size, 0 if unknown)."""
    config = settings()
    release = find_release(package, version, config, read_page)
    archive = folder / "archive"
    download(release.address, archive, LONGEST_ARCHIVE, credentials(release.address, config))
    _check(archive, release)
    unpacked = _unpack(archive, f"{package} {version}", members, folder)
    archive.unlink()
    lost = [member for member in members if member not in unpacked]
    if lost:
        raise Prerequisite(f"{package} {version} no longer holds {', '.join(lost)}")
    return [unpacked[member] for member in members]


def find_release(package: str, version: str, config: Mapping[str, str], read_page: ReadPage) -> Release:
    """Where the registry set up here has this version."""
    registry = registry_of(package, config)
    asked = registry + package.replace("/", "%2f")
    address, text = read_page(asked, {**_ACCEPT, **credentials(asked, config)})
    try:
        content: Any = json.loads(text)
    except ValueError:
        raise Prerequisite(f"{without_credentials(asked)} is no page of an npm registry") from None
    versions = content.get("versions") if isinstance(content, dict) else None
    release = versions.get(version) if isinstance(versions, dict) else None
    details = release.get("dist") if isinstance(release, dict) else None
    tarball = details.get("tarball") if isinstance(details, dict) else None
    if not isinstance(details, dict) or not isinstance(tarball, str):
        raise Prerequisite(f"{without_credentials(asked)} has no {package} {version}")
    algorithm, checksum = _checksum(details, f"{package} {version}")
    return Release(_reachable(urljoin(address, tarball), registry), algorithm, checksum)


def _reachable(tarball: str, registry: str) -> str:
    """As npm does: a mirror that passes on the public registry's own addresses is asked itself.

    A link back to the registry's own host goes with the name and password in the registry's address.
    """
    parts, own = urlsplit(tarball), urlsplit(registry)
    if parts.scheme not in ("http", "https"):
        raise Prerequisite(f"the archive is at {without_credentials(tarball)}, which is no web address")
    host = own.netloc.rpartition("@")[2]
    if parts.netloc == urlsplit(DEFAULT).netloc != host:
        path = own.path.rstrip("/") + parts.path
        return urlunsplit(parts._replace(scheme=own.scheme, netloc=own.netloc, path=path))
    same = (parts.scheme, parts.netloc) == (own.scheme, host)
    return urlunsplit(parts._replace(netloc=own.netloc)) if same else tarball


def _checksum(details: Mapping[str, Any], shown: str) -> tuple[str, str]:
    """The strongest of the checksums given, in hexadecimal."""
    given: dict[str, str] = {}
    for word in str(details.get("integrity") or "").split():
        algorithm, _, value = word.partition("?")[0].partition("-")
        try:
            given.setdefault(algorithm, base64.b64decode(value, validate=True).hex())
        except binascii.Error:
            raise Prerequisite(f"the registry's checksum of {shown} cannot be read") from None
    if details.get("shasum"):
        given.setdefault("sha1", str(details["shasum"]).lower())
    return next(((algorithm, given[algorithm]) for algorithm in _STRONGEST_FIRST if algorithm in given), ("", ""))


def _check(archive: Path, release: Release) -> None:
    if not release.algorithm:
        return  # what is taken out of it has a checksum of its own
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, release.algorithm).hexdigest()
    if found != release.checksum:
        raise StudyError(
            f"{without_credentials(release.address)} arrived damaged ({release.algorithm} differs); try again"
        )


def _unpack(archive: Path, shown: str, members: Mapping[str, int], folder: Path) -> dict[str, Path]:
    """Member → file, for those that are there. The archive's own names are compared and never used as paths."""
    numbers = {member: number for number, member in enumerate(members)}
    found: dict[str, Path] = {}
    try:
        with _Bounded(archive, shown) as unzipped, tarfile.open(fileobj=unzipped, mode="r|", tarinfo=Member) as entries:
            for entry in entries:
                member = entry.name.removeprefix("./").partition("/")[2]  # the first folder may be called anything
                if member not in members or member in found:
                    continue
                source = entries.extractfile(entry) if entry.isfile() else None
                if source is None:
                    raise StudyError(f"{member} is not a plain file in {shown}")
                found[member] = folder / f"member-{numbers[member]}"
                _copy(source, found[member], members[member], f"{member} in {shown}")
                if len(found) == len(members):
                    break
    except _DAMAGED as error:
        raise StudyError(f"the download of {shown} is damaged ({' '.join(str(error).split())}); try again") from error
    return found


def _copy(source: IO[bytes], target: Path, size: int, shown: str) -> None:
    with source, target.open("wb") as file:
        while piece := source.read(PIECE):
            file.write(piece)
            if file.tell() > (size or LONGEST_CONTENT):
                raise StudyError(f"{shown} is longer than the {size or LONGEST_CONTENT} bytes it should have")


class _Bounded(gzip.GzipFile):
    """Ends in an error when it goes on for too long: a small archive can hold any amount of zeros."""

    def __init__(self, path: Path, shown: str) -> None:
        super().__init__(path, "rb")
        self._shown, self._done = shown, 0

    def read(self, size: int | None = -1) -> bytes:
        """At most `size` bytes."""
        data = super().read(size)
        self._done += len(data)
        if self._done > LONGEST_CONTENT:
            raise StudyError(f"{self._shown} holds more than {LONGEST_CONTENT} bytes; nothing was kept")
        return data
