"""A step that is wanted, one attempt at it, and the rows that tell of both."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

from convergebench.errors import BadReply, EditorError, Exhausted, Refused, Transient
from convergebench.ids import canonical
from convergebench.redaction import redact
from convergebench.store.journal import Row
from convergebench.types import Case, Edit, Turn

OUTCOMES: dict[type[EditorError], str] = {
    Transient: "transient",
    BadReply: "bad-reply",
    Refused: "refused",
    Exhausted: "ended",
}


@dataclass(frozen=True)
class Place:
    """Where in which chain a step stands."""

    case: Case
    position: int
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """A step to be answered. `rows` are what its chain has gathered and will be committed along with it."""

    key: str
    edit: Edit
    place: Place
    rows: list[Row]


def now() -> str:
    """This moment, as it stands in the table of attempts."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class Attempt:
    """One call for a wanted step."""

    wanted: Wanted
    editor: str
    number: int
    seed: int
    started: str = field(default_factory=now)
    begun: float = field(default_factory=time.perf_counter)

    def row(
        self, outcome: str, error: str = "", dollars: float = 0.0, *, model: str | None = None, raw: str | None = None
    ) -> Row:
        """How the call went."""
        values = (
            self.wanted.key, self.number, self.editor, self.started, time.perf_counter() - self.begun, dollars,
            outcome, redact(error), model, None if raw is None else redact(raw),
        )  # fmt: skip
        return ("attempts", values)

    def failure(self, error: EditorError) -> Row:
        """How the call failed."""
        outcome = next(word for kind, word in OUTCOMES.items() if isinstance(error, kind))
        return self.row(outcome, str(error), error.dollars, raw=error.raw)

    def step(self, status: str, *, image: str | None = None, detail: str = "", reasoning: str | None = None) -> Row:
        """The answer to the step."""
        edit = self.wanted.edit
        values = (
            self.wanted.key, edit.state.id, self.editor, edit.instruction, canonical(edit.settings.as_key()), self.seed,
            self.wanted.place.case.replicate, status, image, redact(detail), reasoning,
        )  # fmt: skip
        return ("steps", values)
