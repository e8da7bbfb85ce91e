"""Work for the machines of a test cluster, found there by its name."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_loads: list[int] = []


def loaded_in(number: int) -> tuple[int, int]:
    """This process, and how often it has loaded its network by now."""
    if not _loads:
        _loads.append(number)
    time.sleep(0.05)
    return os.getpid(), len(_loads)


def survive(fatal: str) -> int:
    """Whoever removes the file, ends its process."""
    with suppress(FileNotFoundError):
        Path(fatal).unlink()
        os._exit(1)
    return os.getpid()


def fail(number: int) -> None:
    """As a metric fails that was written by somebody else."""
    raise ValueError("a metric's own words")


@dataclass(frozen=True)
class Piece:
    """Some images of a run."""

    images: Any
    files: tuple[str, ...]

    def reads(self) -> dict[str, str | None]:
        return dict.fromkeys(self.files)


def total(piece: Piece) -> int:
    """How many bytes they have together."""
    time.sleep(0.1)
    return sum(len(piece.images.read(file)) for file in piece.files)
