"""Which pictures are the same: as files, as pixels, or to the eye.

Two pictures are alike if no cell of a 16 × 16 grid over them differs by more than 4 of 255 levels in the mean of any
colour. On the 12 photographs of the suite `quick`, JPEG at quality 90 moves a cell by at most 3.5 levels, WebP at 80 by
3.4, noise of σ 5 by 2.6; a patch of a sixteenth of the width and height, 60 levels brighter or darker, by 14.6 or more.
A patch of half that width and height moves a cell by 3.4 to 4.2: it may be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from convergebench.store.tables import ImageRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CELLS = 16
LEVELS = 4.0
"""Largest difference of a cell's mean colour between pictures that are alike, of 255."""
KEPT = 4096
"""Pictures whose cells are kept: 3 KiB each."""

Sameness = Literal["identical", "alike"]


class Alikeness:
    """Compares pictures of a run, which are read and decoded only where their hashes do not settle it."""

    def __init__(self, read: Callable[[ImageRow], bytes]) -> None:
        self._read = read
        self._cells = lru_cache(maxsize=KEPT)(self._make_cells)

    def same_pixels(self, one: ImageRow, other: ImageRow) -> bool:
        """Whether two files show the same pixels."""
        if one.id == other.id:
            return True
        if (one.width, one.height) != (other.width, other.height) or self.distance(one, other) > 0:
            return False
        return bool((self._pixels(one) == self._pixels(other)).all())

    def distance(self, one: ImageRow, other: ImageRow) -> float:
        """Largest difference of a cell's mean colour, of 255."""
        return float(abs(self._cells(one) - self._cells(other)).max())

    def _make_cells(self, picture: ImageRow) -> NDArray[np.float32]:
        import cv2
        import numpy as np

        pixels = self._pixels(picture).astype(np.float32)
        return cv2.resize(pixels, (CELLS, CELLS), interpolation=cv2.INTER_AREA).astype(np.float32)

    def _pixels(self, picture: ImageRow) -> NDArray[np.uint8]:
        from convergebench.images.decode import decode

        return decode(self._read(picture), what=picture.file, alpha="white").pixels


class Duplicates:
    """The rows of one subset so far."""

    def __init__(self, alikeness: Alikeness) -> None:
        self._alikeness = alikeness
        self._files: set[tuple[str, ...]] = set()
        self._groups: dict[tuple[str, ...], list[tuple[ImageRow, ...]]] = {}

    def seen(self, group: tuple[str, ...], pictures: Sequence[ImageRow]) -> Sameness | None:
        """How a row repeats an earlier one, if it does; else it is remembered.

        Files are compared with all rows, looks with those of the same group: the same source and edit type.
        """
        files = tuple(picture.id for picture in pictures)
        if files in self._files:
            return "identical"
        others = self._groups.setdefault(group, [])
        for other in others:
            if len(other) == len(pictures) and all(map(self._look_alike, other, pictures)):
                return "alike"
        self._files.add(files)
        others.append(tuple(pictures))
        return None

    def _look_alike(self, one: ImageRow, other: ImageRow) -> bool:
        return one.id == other.id or self._alikeness.distance(one, other) <= LEVELS
