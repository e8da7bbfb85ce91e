"""A step that is wanted, one attempt at it, and the rows that tell of both."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from convergebench.errors import BadReply, EditorError, Exhausted, Refused, StudyError, Transient, Unavailable
from convergebench.ids import canonical
from convergebench.redaction import redact
from convergebench.store.journal import Row
from convergebench.texts import storable
from convergebench.types import Case, Edit, Edited

UNKNOWN = "unknown"
"""How the row of a call is called until its answer has come, and for ever if its process ends before that."""
LONGEST = 2_000_000
"""Characters that are kept of one text; as many as are kept of a provider's reply."""
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


class Price(NamedTuple):
    """What a call may cost; `known` is False where nobody knows, and then a call counts as no dollars."""

    dollars: float
    known: bool = True

    @classmethod
    def of(cls, dollars: float | None, who: str) -> Price:
        """As capabilities say it; one that is no amount would make every limit worthless."""
        if dollars is None:
            return cls(0.0, known=False)
        if not is_amount(dollars):
            raise StudyError(f"{who} says that a call costs {dollars!r} dollars; a price is a number from 0, or None")
        return cls(float(dollars))

    @property
    def free(self) -> bool:
        """Whether nothing can be lost with it."""
        return self.known and self.dollars == 0


class Charge(NamedTuple):
    """What a call is counted at, and whether that is certain."""

    dollars: float
    settled: bool = True


NO_CHARGE = Charge(0.0)


def charge_of(error: EditorError, price: Price) -> Charge:
    """What a failed call is counted at: as the editor says, or at its price where nobody knows."""
    if not is_amount(error.dollars):
        return Charge(price.dollars, settled=price.free)
    if error.unsettled:
        return Charge(max(price.dollars, error.dollars), settled=price.free)
    return Charge(float(error.dollars))


def is_amount(dollars: object) -> bool:
    """Whether this can be a price."""
    return isinstance(dollars, int | float) and 0 <= dollars < 1e12


def require_sound(edited: Edited) -> None:
    """What an editor gives can be journalled, or this says why not: one odd field of foreign code must end no run."""
    if not isinstance(edited, Edited):
        raise EditorError(f"the editor answered with a {type(edited).__name__}, which should be Edited", unsettled=True)
    if not is_amount(edited.dollars):
        raise EditorError(f"the editor says that the call cost {edited.dollars!r} dollars", unsettled=True)
    kinds = {"image": bytes, "model": str | None, "reasoning": str | None, "raw": str | None, "used": Mapping}
    for name, kind in kinds.items():
        value = getattr(edited, name)
        if not isinstance(value, kind):
            wanted = getattr(kind, "__name__", "str | None")
            raise EditorError(
                f"the editor gave {name} as {type(value).__name__}, which should be {wanted}", dollars=edited.dollars
            )
    try:
        length = len(used_text(edited))
    except (TypeError, ValueError, RecursionError) as error:
        raise EditorError(f"the editor gave a `used` that is no JSON: {error}", dollars=edited.dollars) from error
    if length >= LONGEST:
        raise EditorError(f"the editor gave a `used` of more than {LONGEST:,} characters", dollars=edited.dollars)


def used_text(edited: Edited) -> str:
    """What was really sent beside the words, as JSON."""
    return told(json.dumps(dict(edited.used), ensure_ascii=False, default=str))


def told(text: str) -> str:
    """Words of a stranger as they may be stored: without keys or halves of characters, and of bounded length."""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}… ({len(text) - LONGEST} more characters)"
    return redact(storable(text))


def now() -> str:
    """This moment, as it stands in the table of attempts."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class Attempt:
    """One call: of an editor, of a part of one (`part`), or of a role (its editor is called `role:NAME`)."""

    step: str
    number: int
    editor: str
    price: Price
    part: str = ""
    started: str = field(default_factory=now)
    begun: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Since it was begun."""
        return time.perf_counter() - self.begun

    def row(
        self,
        outcome: str,
        charge: Charge = NO_CHARGE,
        error: str = "",
        *,
        model: str | None = None,
        raw: str | None = None,
        inside: float = 0.0,
    ) -> Row:
        """How the call went. `inside`: seconds that calls of its parts took, which have rows of their own."""
        values = (
            self.step, self.number, self.editor, self.started, max(0.0, self.seconds - inside), charge.dollars, outcome,
            told(error), None if model is None else told(model), None if raw is None else told(raw),
            int(charge.settled), self.part,
        )  # fmt: skip
        return ("attempts", values)

    def intent(self) -> Row:
        """The row that stands until the answer has come: if it never does, the call counts at its price."""
        return self.row(UNKNOWN, Charge(self.price.dollars, settled=False), "no answer on record")

    def failure(self, error: EditorError, charge: Charge, **options: Any) -> Row:
        """How the call failed."""
        outcome = next(word for kind, word in OUTCOMES.items() if isinstance(error, kind))
        raw = error.raw if isinstance(error.raw, str) else None  # a plug-in may have put anything there
        return self.row(outcome, charge, str(error), raw=raw, **options)


def step_row(
    wanted: Wanted,
    editor: str,
    seed: int | None,
    status: str,
    *,
    image: str | None = None,
    detail: str = "",
    edited: Edited | None = None,
) -> Row:
    """The answer to a step. `seed` is None where the editor takes none."""
    reasoning = None if edited is None or edited.reasoning is None else told(edited.reasoning)
    used = None if edited is None else used_text(edited)
    edit = wanted.edit
    values = (
        wanted.key, edit.state.id, editor, edit.instruction, canonical(edit.settings.as_key()), seed,
        wanted.place.case.replicate, status, image, told(detail), reasoning, used, edit.draw,
    )  # fmt: skip
    return ("steps", values)
