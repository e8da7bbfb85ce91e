"""Linear sessions: one wish after the other, no undoing in between."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from convergebench.documents import read_document
from convergebench.edits.schema import SessionsFile
from convergebench.types import Kind

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Session:
    """What one person asks for, step by step, each step on the picture before."""

    id: str
    title: str
    kinds: tuple[Kind, ...]
    steps: tuple[str, ...]


def load_sessions(path: Path | None = None) -> tuple[Session, ...]:
    """The shipped sessions, or those of a person's own TOML file (`[[session]]` tables)."""
    content = read_document(path or DATA / "sessions.toml", SessionsFile)
    return tuple(Session(id=row.id, title=row.title, kinds=row.kinds, steps=row.steps) for row in content.session)
