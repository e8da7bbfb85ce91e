"""One file or index page from a server or a folder; every failure is one line without credentials."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit
from urllib.request import url2pathname

from convergebench.errors import Prerequisite, StudyError

SECONDS = 60.0
"""Seconds without data after which a download fails."""
PIECE = 1 << 20
LONGEST_ARCHIVE = 2_000_000_000
"""Most bytes of an archive, whose size is not known beforehand."""
LONGEST_PAGE = 50_000_000
"""Most bytes of an index page; the longest known have a few million."""
NO_HEADERS: Mapping[str, str] = MappingProxyType({})

Watch = Callable[[int, int], None]
"""Called with bytes so far and total bytes (0: unknown)."""


class Checksum(NamedTuple):
    """Algorithm and hexadecimal digest."""

    algorithm: str
    digest: str


class OpenedFile(NamedTuple):
    """A file that is being read."""

    address: str
    """Its address after redirects."""
    total: int
    """Total bytes; 0 if unknown."""
    pieces: Iterator[bytes]


def download(
    address: str,
    target: Path,
    *,
    size: int = 0,
    checksum: Checksum | None = None,
    watch: Watch | None = None,
    headers: Mapping[str, str] = NO_HEADERS,
) -> None:
    """Download one file in pieces; `StudyError` if it is longer than a known `size` or its checksum differs."""
    shown = without_credentials(address)
    digest, done = hashlib.new(checksum.algorithm if checksum else "sha256"), 0
    with _open(address, headers) as opened, target.open("wb") as file:
        for piece in opened.pieces:
            file.write(piece)
            digest.update(piece)
            done += len(piece)
            if size and done > size:
                raise StudyError(f"{shown} is longer than the {size} bytes it should have; nothing was kept")
            if watch:
                watch(done, opened.total)
    if checksum and digest.hexdigest() != checksum.digest:
        raise StudyError(f"{shown} arrived damaged ({checksum.algorithm} differs); try again")


def read_page(address: str, headers: Mapping[str, str] = NO_HEADERS) -> tuple[str, str]:
    """The address of an index page after redirects (the base of its links), and its text."""
    text = bytearray()
    with _open(f"{address}index.html" if address.startswith("file:") else address, headers) as opened:
        for piece in opened.pieces:
            text += piece
            if len(text) > LONGEST_PAGE:
                raise Prerequisite(f"{without_credentials(address)} is not a page of a package index")
    return opened.address, text.decode("utf-8", "replace")


def without_credentials(address: str) -> str:
    """An address that is safe to show: without user name, password and query."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "an invalid address"
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def with_credentials(address: str, index: str) -> str:
    """The link with the user name and password of the index, if it points to the same host."""
    parts, own = urlsplit(address), urlsplit(index)
    same = (parts.scheme, parts.netloc) == (own.scheme, own.netloc.rpartition("@")[2])
    return urlunsplit(parts._replace(netloc=own.netloc)) if same else address


@contextmanager
def _open(address: str, more: Mapping[str, str]) -> Iterator[OpenedFile]:
    """Open an address over HTTP, or a local file where the package index is a folder."""
    import httpx

    shown = without_credentials(address)
    try:
        if address.startswith("file:"):
            path = Path(url2pathname(urlsplit(address).path))
            with path.open("rb") as file:
                yield OpenedFile(address, path.stat().st_size, iter(lambda: file.read(PIECE), b""))
            return
        # as pip does: an archive that the server compresses in transit would have another checksum
        headers = {"Accept": "text/html, */*;q=0.1", "Accept-Encoding": "identity", **more}
        with httpx.stream("GET", address, headers=headers, timeout=SECONDS, follow_redirects=True) as answer:
            if answer.status_code != 200:
                raise Prerequisite(f"{shown} answers {answer.status_code}")
            total = int(answer.headers.get("content-length", 0))
            yield OpenedFile(str(answer.url), total, answer.iter_raw(PIECE))
    except (httpx.HTTPError, httpx.InvalidURL, FileNotFoundError) as error:
        raise Prerequisite(f"{shown} cannot be reached ({type(error).__name__})") from error
    except (ValueError, ImportError) as error:  # a proxy in the environment that httpx cannot use
        raise Prerequisite(f"{shown} cannot be reached ({(str(error).splitlines() or [''])[0]})") from error
