"""The orientation of a picture after any number of flips and quarter turns.

An orientation is a mirroring of left and right (or none) followed by quarter turns clockwise. Two of the eight, the
mirrorings about a diagonal, are no single operation, so no step can request them.
"""

from __future__ import annotations

from typing import NamedTuple

from convergebench.types import Operation


class Orientation(NamedTuple):
    """Mirrored left to right (or not), then rotated clockwise by `quarters` quarter turns."""

    mirrored: bool = False
    quarters: int = 0

    def then(self, operation: Operation | None) -> Orientation:
        """The orientation after an operation; one that moves no pixels changes nothing."""
        return self.followed_by(NAMED.get(operation, UPRIGHT))

    def followed_by(self, other: Orientation) -> Orientation:
        """This orientation, then the other. Mirroring a clockwise turn gives a counter-clockwise turn."""
        quarters = -self.quarters if other.mirrored else self.quarters
        return Orientation(self.mirrored != other.mirrored, (quarters + other.quarters) % 4)

    def inverse(self) -> Orientation:
        """The transform from here back to upright."""
        return Orientation(self.mirrored, self.quarters if self.mirrored else -self.quarters % 4)

    def relative_to(self, earlier: Orientation) -> Orientation:
        """The transform from that orientation to this one."""
        return earlier.inverse().followed_by(self)

    @property
    def is_one_operation(self) -> bool:
        """Whether a single operation (or none) leads here."""
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
