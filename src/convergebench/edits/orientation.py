"""How a picture lies: mirrored and turned so often that somebody has to keep count.

An orientation is a mirroring of left and right (or none) followed by quarter turns clockwise. Two of the eight, the
mirrorings about a diagonal, have no operation of their own: nobody can be asked for them in one step.
"""

from __future__ import annotations

from typing import NamedTuple

from convergebench.types import Operation


class Orientation(NamedTuple):
    """First mirrored left to right (or not), then turned clockwise by so many quarters."""

    mirrored: bool = False
    quarters: int = 0

    def then(self, operation: Operation | None) -> Orientation:
        """After this operation; one that moves no pixels changes nothing."""
        return self.followed_by(NAMED.get(operation, UPRIGHT))

    def followed_by(self, other: Orientation) -> Orientation:
        """One after the other. Mirroring what was turned clockwise gives a mirror image turned the other way."""
        quarters = -self.quarters if other.mirrored else self.quarters
        return Orientation(self.mirrored != other.mirrored, (quarters + other.quarters) % 4)

    def taken_back(self) -> Orientation:
        """What leads from here to upright."""
        return Orientation(self.mirrored, self.quarters if self.mirrored else -self.quarters % 4)

    def from_(self, earlier: Orientation) -> Orientation:
        """What leads from that orientation to this one."""
        return earlier.taken_back().followed_by(self)

    @property
    def has_name(self) -> bool:
        """Whether one operation leads here."""
        return self == UPRIGHT or self in NAMED.values()

    @property
    def operation(self) -> Operation | None:
        """The operation that leads here from upright; None if it is upright."""
        return next((name for name, orientation in NAMED.items() if orientation == self), None)


UPRIGHT = Orientation()

NAMED: dict[Operation | None, Orientation] = {
    "flip-horizontal": Orientation(True, 0),
    "flip-vertical": Orientation(True, 2),
    "rotate-90": Orientation(False, 1),
    "rotate-180": Orientation(False, 2),
    "rotate-270": Orientation(False, 3),
}
