"""How large an answer is, from how large the image is. Rules keep the aspect, and leave their own answers' size alone.

The second half matters in a chain: taken as they stand in the pipelines, the rules resize one image in five a second
and a third time when their own answer is sent in again, and that would be measured as the model's doing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal, NamedTuple

NEAR = 0.1
"""A size within this part of the wanted area, on the grid, is kept."""


class Size(NamedTuple):
    """In pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


@dataclass(frozen=True, slots=True)
class FollowArea:
    """The input's aspect at a given area, whatever its size: what the model was trained at."""

    rounding: Literal["down", "nearest"]
    multiple: int | None = None
    """Sides are multiples of it; None: of a patch."""

    @property
    def words(self) -> str:
        """For the record."""
        return "input's aspect at max_area"

    def size(self, given: Size, *, area: int, scale: int) -> Size:
        """`scale` is how many pixels a side the autoencoder makes one; a patch is two of those."""
        grid = self.multiple or 2 * scale
        on_grid = given.width % grid == 0 and given.height % grid == 0
        if on_grid and abs(given.width * given.height / area - 1) <= NEAR:
            return given
        aspect = given.width / given.height
        width, height = sqrt(area * aspect), sqrt(area / aspect)
        if self.rounding == "down":
            return Size(*(max(grid, round(side) // grid * grid) for side in (width, height)))
        return Size(*(max(grid, round(side / grid) * grid) for side in (width, height)))


@dataclass(frozen=True, slots=True)
class FollowInput:
    """The input's own size, cut down to whole patches; one larger than the area is scaled down to it first."""

    multiple: Literal["patch", "scale"] = "patch"
    capped: bool = True

    @property
    def words(self) -> str:
        """For the record."""
        return "input's size, at most max_area" if self.capped else "input's size"

    def size(self, given: Size, *, area: int, scale: int) -> Size:
        """See `FollowArea.size`."""
        grid = 2 * scale if self.multiple == "patch" else scale
        width, height = given
        if self.capped and width * height > area:
            shrink = sqrt(area / (width * height))
            width, height = int(width * shrink), int(height * shrink)
        return Size(*(max(grid, side // grid * grid) for side in (width, height)))


SizeRule = FollowArea | FollowInput
