"""Heads: small objects that say of which pieces the journal at one moment consists. The newest whole one counts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from convergebench.store.remote.fetching import read_patiently
from convergebench.store.remote.files import RemoteFiles

FORMAT = 1
KEPT = 6
"""Heads of a writer that are kept: if the newest is damaged, the one before it serves."""
_NAME = re.compile(r"journal/([0-9a-f]{16})/head-(\d{10})\.json")


@dataclass(frozen=True)
class BackupHead:
    """The journal at one moment; pieces by their names."""

    writer: str
    number: int
    time: float
    """By the clock of the computer that wrote it."""
    run: str
    """The name of the run's folder."""
    base: str
    """The piece that lists the pieces of the database file, in order."""
    parts: list[str] = field(default_factory=list)
    """Pieces with the pages that changed since then, in order."""
    files: str = ""
    """The piece that lists the other files of the run."""
    format: int = FORMAT

    @property
    def name(self) -> str:
        """Of its object."""
        return f"journal/{self.writer}/head-{self.number:010d}.json"

    def packed(self) -> bytes:
        """With a hash of itself."""
        content = asdict(self)
        return json.dumps({**content, "sha256": _hash(content)}).encode()


def _hash(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_head(files: RemoteFiles, name: str) -> BackupHead | None:
    """A head; None if it is gone or damaged."""
    data = read_patiently(files, name)
    try:
        content = json.loads(data or b"")
        told = content.pop("sha256")
        if told != _hash(content) or content["format"] > FORMAT:
            return None
        return BackupHead(**content)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def head_names(files: RemoteFiles) -> dict[str, list[str]]:
    """Writer → the names of its heads, newest first."""
    found: dict[str, list[str]] = {}
    for name in sorted(files.sizes("journal"), reverse=True):
        if match := _NAME.fullmatch(name):
            found.setdefault(match[1], []).append(name)
    return found


def newest_first(files: RemoteFiles, current: str) -> Iterator[BackupHead]:
    """Whole heads, in the order in which they should be tried: those of the present writer, then others by time."""
    names = head_names(files)
    for name in names.pop(current, []):
        if (head := read_head(files, name)) is not None:
            yield head
    others = [head for several in names.values() for name in several if (head := read_head(files, name)) is not None]
    yield from sorted(others, key=lambda head: (head.time, head.number), reverse=True)
