"""Extracts files from an npm package without npm, without installing it and without running its code.

The registry's document gives the address and the checksum of a version's archive.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit, urlunsplit

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
from convergebench.weights.npmrc import DEFAULT, credentials, registry_of, settings

_STRONGEST_FIRST = ("sha512", "sha384", "sha256", "sha1")
_ACCEPT = {"Accept": "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*; q=0.1"}


class NpmRelease(NamedTuple):
    """The archive of one version."""

    address: str
    checksum: Checksum | None
    """None if the registry gives none; the members are verified by their own checksums."""


def extract_members(package: str, version: str, members: Mapping[str, int], folder: Path, watch: Watch) -> list[Path]:
    """Download a version and unpack these members (path in it → size, 0 if unknown)."""
    config = settings()
    release = find_release(package, version, config)
    archive = folder / "archive"
    headers = credentials(release.address, config)
    download(release.address, archive, size=LONGEST_ARCHIVE, checksum=release.checksum, watch=watch, headers=headers)
    unpacked = unpack(archive, f"{package} {version}", members, folder)
    archive.unlink()
    absent = [member for member in members if member not in unpacked]
    if absent:
        raise Prerequisite(f"{package} {version} no longer contains {', '.join(absent)}")
    return [unpacked[member] for member in members]


def find_release(package: str, version: str, config: Mapping[str, str]) -> NpmRelease:
    """The archive of this version on the configured registry."""
    registry = registry_of(package, config)
    page_address = registry + package.replace("/", "%2f")
    address, text = read_page(page_address, {**_ACCEPT, **credentials(page_address, config)})
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise Prerequisite(f"{without_credentials(page_address)} is not a page of an npm registry") from None
    for key in ("versions", version, "dist"):
        content = content.get(key) if isinstance(content, dict) else None
    tarball = content.get("tarball") if isinstance(content, dict) else None
    if not isinstance(tarball, str):
        raise Prerequisite(f"{without_credentials(page_address)} has no {package} {version}")
    return NpmRelease(_at_registry(urljoin(address, tarball), registry), _checksum(content, f"{package} {version}"))


def _at_registry(tarball: str, registry: str) -> str:
    """As npm does: an address of the public registry, given by a mirror, is replaced by the mirror's own."""
    parts, own = urlsplit(tarball), urlsplit(registry)
    if parts.scheme not in ("http", "https"):
        raise Prerequisite(f"the archive is at {without_credentials(tarball)}, which is not a web address")
    if parts.netloc == urlsplit(DEFAULT).netloc != own.netloc.rpartition("@")[2]:
        path = own.path.rstrip("/") + parts.path
        return urlunsplit(parts._replace(scheme=own.scheme, netloc=own.netloc, path=path))
    return with_credentials(tarball, registry)


def _checksum(details: Mapping[str, Any], shown: str) -> Checksum | None:
    """The strongest of the given checksums."""
    given: dict[str, str] = {}
    for word in str(details.get("integrity") or "").split():
        algorithm, _, value = word.partition("?")[0].partition("-")
        try:
            given.setdefault(algorithm, base64.b64decode(value, validate=True).hex())
        except ValueError:
            raise Prerequisite(f"the registry's checksum of {shown} cannot be read") from None
    if details.get("shasum"):
        given.setdefault("sha1", str(details["shasum"]).lower())
    return next((Checksum(one, given[one]) for one in _STRONGEST_FIRST if one in given), None)
