"""One attempt at a call: its price, what it is charged at, and its row in the journal."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from convergebench.errors import BadReply, EditorError, Exhausted, Refused, StudyError, Transient, Unavailable
from convergebench.redaction import redact
from convergebench.store.tables import AttemptRow
from convergebench.texts import storable

UNKNOWN = "unknown"
"""The outcome of a call until its answer arrives; it remains if the process ends before that."""
LONGEST_TEXT = 2_000_000
"""Characters kept of one text; the same limit as for a provider's reply."""
OUTCOMES: dict[type[EditorError], str] = {
    Transient: "transient",
    BadReply: "bad-reply",
    Refused: "refused",
    Exhausted: "ended",
    Unavailable: "unavailable",
    EditorError: "error",
}
"""The outcome that each error is recorded as; the general one last."""


class Price(NamedTuple):
    """What a call may cost; an unknown price counts as no dollars."""

    dollars: float
    known: bool = True

    @classmethod
    def of(cls, dollars: float | None, who: str) -> Price:
        """A price from declared capabilities; `StudyError` if it is not an amount."""
        if dollars is None:
            return cls(0.0, known=False)
        if not is_amount(dollars):
            raise StudyError(f"{who} says that a call costs {dollars!r} dollars; a price is 0 or more, or None")
        return cls(float(dollars))

    @property
    def free(self) -> bool:
        """Whether a call certainly costs nothing."""
        return self.known and self.dollars == 0


class Charge(NamedTuple):
    """What a call is counted at, and whether that is certain."""

    dollars: float
    settled: bool = True


NO_CHARGE = Charge(0.0)


class Spending:
    """Running totals of the calls of an editor's parts."""

    dollars: float = 0.0
    seconds: float = 0.0


NO_PARTS = Spending()


def charge_of(error: EditorError, price: Price) -> Charge:
    """What a failed call is counted at: the editor's figure, or the full price if that is unknown."""
    if not is_amount(error.dollars):
        return Charge(price.dollars, settled=price.free)
    if error.unsettled:
        return Charge(max(price.dollars, error.dollars), settled=price.free)
    return Charge(float(error.dollars))


def is_amount(dollars: object) -> bool:
    """Whether this can be a price."""
    return isinstance(dollars, int | float) and 0 <= dollars < 1e12


def stored_text(text: str) -> str:
    """Text from outside as it may be stored: without keys or halves of characters, and of bounded length."""
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]}… ({len(text) - LONGEST_TEXT} more characters)"
    return redact(storable(text))


def now() -> str:
    """The current time, as stored in the table of attempts."""
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
        parts: Spending = NO_PARTS,
    ) -> AttemptRow:
        """The row of a finished call, without the seconds of its parts, which have rows of their own."""
        return AttemptRow(
            step=self.step,
            attempt=self.number,
            editor=self.editor,
            started=self.started,
            seconds=max(0.0, self.seconds - parts.seconds),
            dollars=charge.dollars,
            outcome=outcome,
            error=stored_text(error),
            model=None if model is None else stored_text(model),
            raw=None if raw is None else stored_text(raw),
            settled=charge.settled,
            part=self.part,
        )

    def intent(self) -> AttemptRow:
        """The row written before the call: without an answer the call counts at its price."""
        return self.row(UNKNOWN, Charge(self.price.dollars, settled=False), "no answer on record")

    def failure(self, error: EditorError, charge: Charge, *, parts: Spending = NO_PARTS) -> AttemptRow:
        """The row of a failed call."""
        outcome = next(word for kind, word in OUTCOMES.items() if isinstance(error, kind))
        raw = error.raw if isinstance(error.raw, str) else None  # a plug-in may have put anything there
        return self.row(outcome, charge, str(error), raw=raw, parts=parts)
