"""The output size for an input size. Rules keep the aspect ratio and do not resize their own outputs.

The latter is important in a chain: the pipelines' own rules resize one image in five again when their own output is
sent back, which would be measured as damage by the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

from convergebench.editors.base import ImageSize

NEAR_AREA = 0.1
"""A size on the grid within this share of the target area is kept."""


@dataclass(frozen=True, slots=True)
class FollowArea:
    """The input's aspect ratio at a fixed area, which the model was trained with."""

    rounding: Literal["down", "nearest"]
    multiple: int | None = None
    """Sides are multiples of this; None: of a patch."""

    @property
    def words(self) -> str:
        """For the record."""
        return "input's aspect at max_area"

    def size(self, given: ImageSize, *, area: int, scale: int) -> ImageSize:
        """The output size. `scale`: pixels per latent cell along a side; a patch is two cells."""
        grid = self.multiple or 2 * scale
        on_grid = given.width % grid == 0 and given.height % grid == 0
        if on_grid and abs(given.width * given.height / area - 1) <= NEAR_AREA:
            return given
        aspect = given.width / given.height
        width, height = sqrt(area * aspect), sqrt(area / aspect)
        if self.rounding == "down":
            return ImageSize(*(max(grid, round(side) // grid * grid) for side in (width, height)))
        return ImageSize(*(max(grid, round(side / grid) * grid) for side in (width, height)))


@dataclass(frozen=True, slots=True)
class FollowInput:
    """The input's own size, rounded down to whole patches; larger inputs are first scaled down to the area."""

    multiple: Literal["patch", "scale"] = "patch"
    capped: bool = True

    @property
    def words(self) -> str:
        """For the record."""
        return "input's size, at most max_area" if self.capped else "input's size"

    def size(self, given: ImageSize, *, area: int, scale: int) -> ImageSize:
        """See `FollowArea.size`."""
        grid = 2 * scale if self.multiple == "patch" else scale
        width, height = given
        if self.capped and width * height > area:
            shrink = sqrt(area / (width * height))
            width, height = int(width * shrink), int(height * shrink)
        return ImageSize(*(max(grid, side // grid * grid) for side in (width, height)))


SizeRule = FollowArea | FollowInput
