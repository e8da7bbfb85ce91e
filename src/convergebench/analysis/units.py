"""What a run counts: round trips where every edit is undone, steps where none is. The one place that knows the word."""

from __future__ import annotations

from typing import NamedTuple


class Unit(NamedTuple):
    """What n counts, as it is said and as it stands in the head of a table."""

    one: str
    many: str
    head: str
    """One, where there is little room."""
    heads: str
    way: str = "pair"
    """What tells the cases of one image apart."""

    def counted(self, number: int) -> str:
        """`1 round trip`, `2 steps`."""
        return f"{number} {self.one if number == 1 else self.many}"


ROUND_TRIP = Unit("round trip", "round trips", "round", "rounds")
STEP = Unit("step", "steps", "step", "steps", "variant")
ROUND = Unit("round", "rounds", "round", "rounds")

_OF_STUDY = {
    "roundtrip": ROUND_TRIP,
    "replicate": STEP,
    "audit": STEP,
    "session": STEP._replace(way="session"),
    "recorded": STEP,
}


def unit_of(study: str) -> Unit:
    """The unit of a study by its name; a study that this package does not know counts rounds."""
    return _OF_STUDY.get(study, ROUND)
