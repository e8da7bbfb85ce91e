"""Rendered files, and writing them atomically."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

RenderedFile = tuple[str, str | bytes]
"""A path relative to the folder of the page, and its content."""


def write_files(files: Iterable[RenderedFile], out: Path) -> list[Path]:
    """Write each file under `out` as soon as it is rendered, in the given order; return their paths."""
    out.mkdir(parents=True, exist_ok=True)
    written, folders = [], {out}
    for name, content in files:
        path = out / name
        if path.parent not in folders:
            path.parent.mkdir(parents=True, exist_ok=True)
            folders.add(path.parent)
        write_whole(path, content)
        written.append(path)
    return written


def write_whole(path: Path, content: str | bytes) -> None:
    """Write the content to `path` atomically."""
    data = content.encode() if isinstance(content, str) else content
    make_whole(path, lambda part: part.write_bytes(data))


def make_whole(path: Path, make: Callable[[Path], object]) -> None:
    """Let `make` write a temporary file beside `path`, then rename it: a kill leaves the old file or the new one."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        make(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
