"""What curation chooses from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from convergebench.types import Kind


@dataclass(frozen=True, slots=True)
class Candidate:
    """One image of a data set. `read` gives its bytes as stored and is called only for those that are looked at."""

    id: str
    kind: Kind
    group: str
    licence: str
    source: str
    read: Callable[[], bytes] = field(repr=False, compare=False)


class Pool(NamedTuple):
    """All candidates of a data set, which layout it was read as and how kinds were told."""

    layout: str
    kind_rule: str
    candidates: list[Candidate]


def read_bytes(path: Path) -> bytes:
    """A file's bytes; empty when it is not there, which counts as unreadable."""
    return path.read_bytes() if path.is_file() else b""
