"""The outcome of a test: its verdict, the values it compared, and what was missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from convergebench.claims.operand import Scalar

ClaimVerdict = Literal["holds", "does not hold", "cannot be told"]
VERDICTS: tuple[ClaimVerdict, ...] = ("holds", "does not hold", "cannot be told")


@dataclass(frozen=True)
class ClaimEvidence:
    """The compared values. `holds` is None if one of them is missing, and `missing` says which."""

    what: str
    values: tuple[tuple[str, Scalar], ...] = ()
    holds: bool | None = None
    claimed: str = ""
    """The claimed value, if it is not a cell: `> 0`."""
    missing: str = ""

    @property
    def text(self) -> str:
        """One short line."""
        if self.missing:
            return self.missing
        compared = ", ".join(f"{label} {shown(value)}".strip() for label, value in self.values)
        stated = f" (claimed {self.claimed})" if self.claimed else ""
        return f"{self.what}: {compared}{stated}" if self.what else f"{compared}{stated}"


@dataclass(frozen=True)
class TestOutcome:
    """The result of one test."""

    holds: bool | None
    evidence: tuple[ClaimEvidence, ...]

    @property
    def verdict(self) -> ClaimVerdict:
        """The verdict in words."""
        return "cannot be told" if self.holds is None else "holds" if self.holds else "does not hold"


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """False if any is False, else None if any is None, else True."""
    known = list(answers)
    return False if False in known else None if None in known else True


def any_of(answers: Iterable[bool | None]) -> bool | None:
    """True if any is True, else None if any is None, else False."""
    known = list(answers)
    return True if True in known else None if None in known else False


def none_of(answers: Iterable[bool | None]) -> bool | None:
    """Whether no answer is True; None if that is unknown."""
    found = any_of(answers)
    return None if found is None else not found


def at_least(answers: Iterable[bool | None], number: int) -> bool | None:
    """Whether at least `number` answers are True; None if the unknown ones decide."""
    known = list(answers)
    sure, possible = known.count(True), known.count(True) + known.count(None)
    return True if sure >= number else False if possible < number else None


def joined(evidence: Sequence[ClaimEvidence], most: int, verdict: ClaimVerdict) -> str:
    """The deciding evidence as one line, at most `most` pieces of it."""
    expected = {"holds": True, "does not hold": False, "cannot be told": None}[verdict]
    deciding = [one for one in evidence if one.holds is expected] or evidence
    texts = list(dict.fromkeys(one.text for one in deciding))
    more = len(texts) - most
    return "; ".join([*texts[:most], *([f"and {more} more"] if more > 0 else [])])


def shown(value: Scalar) -> str:
    """A value in readable form."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return str(value)
