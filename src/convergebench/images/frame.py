"""A decoded image with a cache of the planes derived from it.

Metrics ask a `Frame` for the planes they share (luma, float channels, local means, pyramids); each is computed
once per image, so reference-side work is done once per reference and one decode serves every metric.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""Height × width × 3, RGB, 8 bit."""

Plane = NDArray[np.float32]

T = TypeVar("T")


class Frame:
    """Pixels plus a cache of derived planes."""

    __slots__ = ("_derived", "id", "pixels")

    def __init__(self, pixels: Pixels, id: str = "") -> None:
        if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8:
            raise ValueError(f"a frame is height × width × 3 in 8 bit, not {pixels.shape} {pixels.dtype}")
        self.pixels = pixels
        self.id = id
        self._derived: dict[Any, Any] = {}

    @property
    def height(self) -> int:
        """Rows."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """Columns."""
        return int(self.pixels.shape[1])

    @property
    def size(self) -> tuple[int, int]:
        """(width, height), in Pillow's order."""
        return self.width, self.height

    def derived(self, key: object, make: Callable[[Frame], T]) -> T:
        """The result of `make` for this frame, computed on the first call and cached under `key`."""
        if key not in self._derived:
            self._derived[key] = make(self)
        value: T = self._derived[key]
        return value
