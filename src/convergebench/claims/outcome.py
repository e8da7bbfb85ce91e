"""What a test found: holds, does not, or cannot be told; the values it compared; and what was not there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from convergebench.claims.operand import Scalar

Verdict = Literal["holds", "does not hold", "cannot be told"]
VERDICTS: tuple[Verdict, ...] = ("holds", "does not hold", "cannot be told")


@dataclass(frozen=True)
class Evidence:
    """Values that were compared. `holds` is None where one of them is missing, and `missing` says which."""

    what: str
    values: tuple[tuple[str, Scalar], ...] = ()
    holds: bool | None = None
    claimed: str = ""
    """What the claim states, where that is no cell: `> 0`."""
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
class Outcome:
    """The answer of one test."""

    holds: bool | None
    evidence: tuple[Evidence, ...]

    @property
    def verdict(self) -> Verdict:
        """In words."""
        return "cannot be told" if self.holds is None else "holds" if self.holds else "does not hold"


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """One that fails decides; else one that cannot be told."""
    known = list(answers)
    return False if False in known else None if None in known else True


def any_of(answers: Iterable[bool | None]) -> bool | None:
    """One that holds decides; else one that cannot be told."""
    known = list(answers)
    return True if True in known else None if None in known else False


def none_of(answers: Iterable[bool | None]) -> bool | None:
    """Whether not one holds."""
    found = any_of(answers)
    return None if found is None else not found


def enough_of(answers: Iterable[bool | None], number: int) -> bool | None:
    """Whether so many hold; what cannot be told may go either way."""
    known = list(answers)
    sure, possible = known.count(True), known.count(True) + known.count(None)
    return True if sure >= number else False if possible < number else None


def joined(evidence: Sequence[Evidence], most: int, verdict: Verdict) -> str:
    """The evidence that decides, at most so many pieces of it."""
    wanted = {"holds": True, "does not hold": False, "cannot be told": None}[verdict]
    deciding = [one for one in evidence if one.holds is wanted] or evidence
    told = list(dict.fromkeys(one.text for one in deciding))
    more = len(told) - most
    return "; ".join([*told[:most], *([f"and {more} more"] if more > 0 else [])])


def shown(value: Scalar) -> str:
    """A value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return str(value)
