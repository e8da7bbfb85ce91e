"""Taking files out of a registry package without installing it and without running any of it.

`pip install` would bring the package's own dependencies along, and `pip download` runs the build script of a source
package. All that is wanted here is a few members of an archive, so the package index (PEP 503) is read directly: the
one that pip is set up to use.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit, urlunsplit

from convergebench.errors import Prerequisite, StudyError

Download = Callable[[str, Path, str], None]
"""Address, where to put it, sha256 or nothing."""


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
    members: tuple[str, ...],
    folder: Path,
    *,
    read_page: Callable[[str], str],
    download: Download,
) -> list[Path]:
    """Download a release and unpack these members into `folder`; wheels are tried before source packages."""
    found = archives(package, version, read_page)
    if not found:
        raise Prerequisite(f"the package index has no {package} {version}")
    for number, archive in enumerate(sorted(found, key=lambda one: not one.is_wheel)):
        target = folder / f"{number}-{archive.name}"
        download(archive.address, target, archive.sha256)
        unpacked = _unpack(target, members, folder)
        target.unlink()
        if unpacked is not None:
            return unpacked
    raise Prerequisite(f"{package} {version} no longer holds {', '.join(members)}")


def archives(package: str, version: str, read_page: Callable[[str], str]) -> list[Archive]:
    """The files of one release, from the first index that has it."""
    project, release = _normal(package), _normal(f"{package}-{version}")
    for index in index_addresses():
        address = f"{index.rstrip('/')}/{project}/"
        try:
            page = read_page(address)
        except Prerequisite:
            continue
        links = _Links()
        links.feed(page)
        found = []
        for reference, text in links.found:
            plain, fragment = urldefrag(urljoin(address, reference))
            name = text or plain.rpartition("/")[2]
            wheel = name.endswith(".whl") and _normal(name).startswith(f"{release}-")
            if wheel or _normal(re.sub(r"\.(tar\.gz|tgz|zip)$", "", name)) == release:
                checksum = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""
                found.append(Archive(name, plain, checksum))
        if found:
            return found
    return []


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def index_addresses() -> list[str]:
    """The indexes pip would ask, in its order: environment, configuration files, its own default."""
    settings = _pip_settings()
    first = os.environ.get("PIP_INDEX_URL") or settings.get("index-url") or _pip_default()
    more = os.environ.get("PIP_EXTRA_INDEX_URL", settings.get("extra-index-url", "")).split()
    return [one for one in (first, *more) if one.startswith(("http://", "https://"))]


def without_credentials(address: str) -> str:
    """An address fit to be shown."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


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


def _unpack(path: Path, members: tuple[str, ...], folder: Path) -> list[Path] | None:
    """The members as files, or None if one of them is not in this archive."""
    unpacked = []
    try:
        with _reader(path) as archive:
            for number, member in enumerate(members):
                name = next((one for one in archive.names if one == member or one.endswith(f"/{member}")), None)
                if name is None:
                    return None
                target = folder / f"member-{number}"
                archive.copy(name, target)
                unpacked.append(target)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise StudyError(f"the download {path.name} is damaged ({error}); try again") from error
    return unpacked


class _Reader:
    """A zip or a tar, alike."""

    def __init__(self, names: list[str], opener: Callable[[str], IO[bytes] | None], close: Callable[[], None]) -> None:
        self.names, self._opener, self._close = names, opener, close

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def copy(self, name: str, target: Path) -> None:
        """One member, a piece at a time."""
        source = self._opener(name)
        if source is None:
            raise StudyError(f"{name} is not a plain file in its package")
        with source, target.open("wb") as file:
            while piece := source.read(1 << 20):
                file.write(piece)


def _reader(path: Path) -> _Reader:
    if zipfile.is_zipfile(path):
        zipped = zipfile.ZipFile(path)
        return _Reader(zipped.namelist(), zipped.open, zipped.close)
    tarred = tarfile.open(path)  # noqa: SIM115 (the reader closes it)
    return _Reader(tarred.getnames(), tarred.extractfile, tarred.close)
