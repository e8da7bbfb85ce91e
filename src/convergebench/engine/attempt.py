"""A step that is wanted, one attempt at it, and the rows that tell of both."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from convergebench.errors import BadReply, EditorError, Exhausted, Refused, Transient, Unavailable
from convergebench.ids import canonical
from convergebench.redaction import redact
from convergebench.store.journal import Row
from convergebench.types import Case, Edit, Edited

OUTCOMES: dict[type[EditorError], str] = {
    Transient: "transient",
    BadReply: "bad-reply",
    Refused: "refused",
    Exhausted: "ended",
    Unavailable: "unavailable",
    EditorError: "error",
}
"""What each error is called in the table of attempts, the general one last."""


@dataclass(frozen=True)
class Past:
    """An earlier step of a chain in a single session; its images are read when a call needs them, and not before."""

    step: str
    instruction: str
    image: str
    answer: str


@dataclass(frozen=True)
class Place:
    """Where in which chain a step stands."""

    case: Case
    position: int
    history: tuple[Past, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """A step to be answered. `rows` are what its chain has gathered and will be committed along with it."""

    key: str
    edit: Edit
    place: Place
    rows: list[Row]


def require_sound(edited: Edited) -> None:
    """What an editor gives can be journalled, or this says why not: one odd field of foreign code must end no run."""
    if not (isinstance(edited.dollars, int | float) and math.isfinite(edited.dollars) and edited.dollars >= 0):
        raise EditorError(f"the editor says that the call cost {edited.dollars!r} dollars")
    kinds = {"image": bytes, "model": str | None, "reasoning": str | None, "raw": str | None, "used": Mapping}
    for name, kind in kinds.items():
        value = getattr(edited, name)
        if not isinstance(value, kind):
            wanted = getattr(kind, "__name__", "str | None")
            raise EditorError(
                f"the editor gave {name} as {type(value).__name__}, which should be {wanted}", dollars=edited.dollars
            )
    try:
        json.dumps(dict(edited.used), default=str)
    except (TypeError, ValueError) as error:
        raise EditorError(f"the editor gave a `used` that is no JSON: {error}", dollars=edited.dollars) from error


def now() -> str:
    """This moment, as it stands in the table of attempts."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class Attempt:
    """One call for a wanted step."""

    wanted: Wanted
    editor: str
    number: int
    seed: int | None
    """None: this editor takes none."""
    started: str = field(default_factory=now)
    begun: float = field(default_factory=time.perf_counter)

    def row(
        self, outcome: str, error: str = "", dollars: float = 0.0, *, model: str | None = None, raw: str | None = None
    ) -> Row:
        """How the call went."""
        values = (
            self.wanted.key, self.number, self.editor, self.started, time.perf_counter() - self.begun, dollars,
            outcome, redact(error), None if model is None else redact(model), None if raw is None else redact(raw),
        )  # fmt: skip
        return ("attempts", values)

    def failure(self, error: EditorError) -> Row:
        """How the call failed."""
        outcome = next(word for kind, word in OUTCOMES.items() if isinstance(error, kind))
        return self.row(outcome, str(error), error.dollars, raw=error.raw)

    def step(self, status: str, *, image: str | None = None, detail: str = "", edited: Edited | None = None) -> Row:
        """The answer to the step."""
        reasoning = None if edited is None or edited.reasoning is None else redact(edited.reasoning)
        used = None if edited is None else redact(json.dumps(dict(edited.used), ensure_ascii=False, default=str))
        edit = self.wanted.edit
        values = (
            self.wanted.key, edit.state.id, self.editor, edit.instruction, canonical(edit.settings.as_key()), self.seed,
            self.wanted.place.case.replicate, status, image, redact(detail), reasoning,
            used, edit.draw,
        )  # fmt: skip
        return ("steps", values)
