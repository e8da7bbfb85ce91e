"""The candidate images that curation selects from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from convergebench.images.inside import is_inside, leads_out
from convergebench.types import Kind


@dataclass(frozen=True, slots=True)
class Candidate:
    """One image of a data set. `read` returns its bytes as stored and is called only for examined candidates."""

    id: str
    kind: Kind
    group: str
    licence: str
    source: str
    read: Callable[[], bytes] = field(repr=False, compare=False)


class CandidatePool(NamedTuple):
    """All candidates of a data set, the layout it was read as and the rule that determined kinds."""

    layout: str
    kind_rule: str
    candidates: list[Candidate]


def read_bytes(path: Path) -> bytes:
    """A file's bytes; empty if it does not exist, which counts as unreadable."""
    return path.read_bytes() if path.is_file() else b""


def read_named(root: Path, *names: str) -> bytes:
    """The bytes of the first file below a folder that a set names; empty if there is none or if it lies elsewhere."""
    for name in names:
        try:
            path = root / name
            if not leads_out(name) and path.is_file() and is_inside(root, path):
                return path.read_bytes()
        except (OSError, ValueError):  # no name that a file can have
            continue
    return b""
