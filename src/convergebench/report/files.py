"""Writing a file whole: a kill leaves the old one or the new one, never half of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Put this text or these bytes at `path`, by renaming a finished file."""
    data = content.encode() if isinstance(content, str) else content
    make_whole(path, lambda part: part.write_bytes(data))


def make_whole(path: Path, make: Callable[[Path], object]) -> None:
    """Let `make` write a neighbour of `path`, then give it the name; what goes wrong leaves no litter."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        make(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
