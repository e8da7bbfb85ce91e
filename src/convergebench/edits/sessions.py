"""Edit sessions: one instruction after another, without undoing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from convergebench.documents import read_document
from convergebench.edits.schema import SessionsFile
from convergebench.types import Kind

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class EditSession:
    """A user's instructions in order, each applied to the result of the one before."""

    id: str
    title: str
    kinds: tuple[Kind, ...]
    steps: tuple[str, ...]
    adds: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


def load_sessions(path: Path | None = None) -> tuple[EditSession, ...]:
    """The shipped sessions, or those of a user's TOML file (`[[session]]` tables)."""
    content = read_document(path or DATA / "sessions.toml", SessionsFile)
    return tuple(EditSession(**dict(row)) for row in content.session)
