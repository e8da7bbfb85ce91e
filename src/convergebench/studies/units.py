"""What a study counts: round trips if every edit is undone, else steps, or a noun of its own."""

from __future__ import annotations

from typing import NamedTuple


class Unit(NamedTuple):
    """The noun for n in sentences and in table heads."""

    one: str
    many: str
    head: str
    """The singular for narrow table heads."""
    heads: str
    way: str = "pair"
    """What distinguishes the cases of one image."""

    def counted(self, number: int) -> str:
        """`1 round trip`, `2 steps`."""
        return f"{number} {self.one if number == 1 else self.many}"


ROUND_TRIP = Unit("round trip", "round trips", "round", "rounds")
STEP = Unit("step", "steps", "step", "steps", "variant")
ROUND = Unit("round", "rounds", "round", "rounds")
