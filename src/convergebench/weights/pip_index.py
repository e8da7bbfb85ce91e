"""Extracts files from a Python package without installing it and without running its code.

`pip install` would bring the package's own dependencies along, and `pip download` runs the build script of a source
package. Only a few members of an archive are needed here, so the package index (PEP 503) that pip is configured to use
is read directly.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from convergebench.errors import Prerequisite
from convergebench.weights.archive import unpack
from convergebench.weights.download import (
    LONGEST_ARCHIVE,
    Checksum,
    Watch,
    download,
    read_page,
    with_credentials,
    without_credentials,
)


class PackageFile(NamedTuple):
    """One file of a release: a wheel (a zip file) or a source package (a tar file)."""

    name: str
    address: str
    checksum: Checksum | None


def extract_members(package: str, version: str, members: Mapping[str, int], folder: Path, watch: Watch) -> list[Path]:
    """Download a release and unpack these members (name → size, 0 if unknown); wheels before source packages."""
    for one in sorted(release_files(package, version), key=lambda one: not one.name.endswith(".whl")):
        archive = folder / "archive"
        download(one.address, archive, size=LONGEST_ARCHIVE, checksum=one.checksum, watch=watch)
        unpacked = unpack(archive, one.name, members, folder)
        archive.unlink()
        if len(unpacked) == len(members):
            return [unpacked[member] for member in members]
    raise Prerequisite(f"{package} {version} no longer contains {', '.join(members)}")


def release_files(package: str, version: str) -> list[PackageFile]:
    """The files of one release, from the first index that has it; `Prerequisite` with all reasons if none has it."""
    reasons = []
    for index in index_addresses():
        page_address = f"{index.rstrip('/')}/{_normalized(package)}/"
        try:
            address, page = read_page(page_address)
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
                algorithm, _, digest = fragment.partition("=")
                checksum = Checksum(algorithm, digest) if algorithm == "sha256" else None
                found.append(PackageFile(name, with_credentials(plain, address), checksum))
        if found:
            return found
        reasons.append(f"{without_credentials(page_address)} has no {package} {version}")
    raise Prerequisite("; ".join(reasons) or "no package index is known here; set PIP_INDEX_URL to the one you use")


def _is_release(name: str, package: str, version: str) -> bool:
    """Whether a file of that name is exactly this version: 0.1.1 and 0.10 are not 0.1."""
    if name.endswith(".whl"):
        return [_normalized(part) for part in name.split("-")[:2]] == [_normalized(package), _normalized(version)]
    plain, ending = re.subn(r"\.(tar\.(gz|bz2|xz)|tgz|zip)$", "", name)
    return bool(ending) and _normalized(plain) == _normalized(f"{package}-{version}")


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def index_addresses() -> list[str]:
    """The indexes that pip would use, in its order: environment, configuration files, default."""
    first, more = os.environ.get("PIP_INDEX_URL"), os.environ.get("PIP_EXTRA_INDEX_URL")
    settings = {} if first and more is not None else _pip_settings()
    first = first or settings.get("index-url") or _pip_default()
    more = settings.get("extra-index-url", "") if more is None else more
    return [one for one in (first, *more.split()) if one.startswith(("http://", "https://", "file:"))]


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
    """Collects (href, text) of every link on a page."""

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
