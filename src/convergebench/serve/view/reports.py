"""The pages of reports, as they lie in the run.

A run may come from somebody else, and its pages have scripts. They are sent into a sandbox, in which they cannot read
or ask anything of the viewer; no cookie is sent from there, so that their addresses carry a word that opens this run's
pages alone.
"""

from __future__ import annotations

import hmac
import os
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from convergebench.serve.guard import Guard, Refusal
from convergebench.store.overview import report_page

SANDBOX = {
    "content-security-policy": "sandbox allow-scripts allow-popups allow-downloads",
    "cross-origin-resource-policy": "cross-origin",
    "cache-control": "no-cache",
}
TYPES = {
    ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json",
    ".webp": "image/webp", ".png": "image/png", ".jpg": "image/jpeg", ".svg": "image/svg+xml", ".gif": "image/gif",
    ".bmp": "image/bmp", ".tif": "image/tiff", ".avif": "image/avif", ".pdf": "application/pdf", ".csv": "text/csv",
    ".tex": "text/plain", ".txt": "text/plain", ".parquet": "application/octet-stream",
}  # fmt: skip
FOLDERS = ("report", "audit", "images", "tables", "evidence", "plots", "figures")
"""Folders of a run that its pages refer to."""
MOST_BYTES = 256 * 2**20
_PATH = re.compile(r"[A-Za-z0-9._-]+(/[A-Za-z0-9 ._×@+,=()-]+)+")


class ReportFile(NamedTuple):
    """A file of a report."""

    data: bytes
    kind: str


def report_address(guard: Guard, name: str, root: Path) -> str | None:
    """The address of a run's report; None if it has none."""
    page = report_page(root)
    if page is None:
        return None
    return f"/report/{quote(name, safe='')}/{_word(guard, name)}/{page.relative_to(root).as_posix()}"


def read_report_file(guard: Guard, name: str, word: str, root: Path, path: str) -> ReportFile:
    """A file below one of `FOLDERS`; `Refusal` if there is none, or if it leads elsewhere."""
    if not hmac.compare_digest(word.encode("utf-8", "replace"), _word(guard, name).encode()):
        raise Refusal(404, "There is no such page.")
    file = root / path
    kind = TYPES.get(file.suffix.lower())
    parts = path.split("/")
    if not _PATH.fullmatch(path) or parts[0] not in FOLDERS or ".." in parts or kind is None:
        raise Refusal(404, "There is no such page.")
    folder = Path(os.path.realpath(root)) / parts[0]
    if folder.is_symlink() or not os.path.realpath(file).startswith(f"{folder}{os.sep}"):
        raise Refusal(404, "There is no such page.")
    try:
        if not file.is_file() or file.stat().st_size > MOST_BYTES:
            raise Refusal(404, "There is no such page.")
        return ReportFile(file.read_bytes(), kind)
    except (OSError, ValueError) as error:
        raise Refusal(404, "There is no such page.") from error


def _word(guard: Guard, name: str) -> str:
    return guard.public_id("report", name)
