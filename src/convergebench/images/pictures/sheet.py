"""The sheet a picture is drawn on: its size, its coordinates and its seeded randomness.

Coordinates do not depend on the resolution: the shorter side spans −1…1, x to the right, y down, the origin in
the middle. A picture drawn in these units is the same picture at any size.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Plane = NDArray[np.floating[Any]]
"""Any array of floats: a height × width plane, a row or a column that broadcasts, a list of points."""

Colours = NDArray[np.floating[Any]]
"""Colour first: 3 × height × width or 3 × points, linear light."""

Bytes = NDArray[np.uint8]

SHIFT = 4
"""Binary places of fixed-point pixel positions."""


@dataclass(frozen=True)
class Sheet:
    """Size and seed of a picture to be drawn."""

    recipe: str
    seed: int
    width: int
    height: int

    @cached_property
    def unit(self) -> float:
        """Pixels per unit."""
        return min(self.width, self.height) / 2

    @cached_property
    def pixel(self) -> float:
        """Width of a pixel in units."""
        return 1 / self.unit

    @cached_property
    def right(self) -> float:
        """X at the right border (−right at the left one); 1 or more."""
        return self.width / min(self.width, self.height)

    @cached_property
    def bottom(self) -> float:
        """Y at the lower border (−bottom at the upper one); 1 or more."""
        return self.height / min(self.width, self.height)

    @cached_property
    def x(self) -> Plane:
        """X of every pixel centre, one row."""
        return ((np.arange(self.width, dtype=np.float32) + 0.5) / self.unit - self.right)[None, :]

    @cached_property
    def y(self) -> Plane:
        """Y of every pixel centre, one column."""
        return ((np.arange(self.height, dtype=np.float32) + 0.5) / self.unit - self.bottom)[:, None]

    def random(self, purpose: str) -> np.random.Generator:
        """Randomness of its own for each purpose, so that one more draw here changes nothing elsewhere."""
        return np.random.default_rng([self.seed, zlib.crc32(self.recipe.encode()), zlib.crc32(purpose.encode())])

    def fixed(self, points: Plane, *, fine: int = 1) -> NDArray[np.int32]:
        """Sheet points (… × 2) as the fixed-point pixels that drawing calls take, with `SHIFT` binary places."""
        pixels = ((points + np.array([self.right, self.bottom])) * (self.unit * fine) - 0.5) * 2**SHIFT
        return np.asarray(np.round(pixels), dtype=np.int32)

    def blank(self, colour: tuple[float, float, float] | Plane = (0.0, 0.0, 0.0)) -> Colours:
        """A sheet of one colour."""
        tone = np.asarray(colour, dtype=np.float32)
        return np.broadcast_to(tone[:, None, None], (3, self.height, self.width)).copy()

    def plane(self, value: float = 0.0) -> Plane:
        """A plane of one value."""
        return np.full((self.height, self.width), value, dtype=np.float32)
