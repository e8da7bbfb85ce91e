"""Crops at 100 %: one pixel of the picture is one pixel of the page, so that noise and texture can be seen.

All pictures of a strip are cropped at the same position, chosen by rule: where the picture has texture and the last
one differs most from the first, within the middle square that thumbnails show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from convergebench.report.thumbnails import Thumbnails

MOST_SIDE, LEAST_SIDE = 160, 64
"""Pixels of a crop's side: half of the picture's shorter side, within these."""
LEAST_REDUCED = 1.25
"""Thumbnails that shrink a picture less than this show its texture themselves: there is no crop."""
_QUALITY = 95
_FLAT = 2.0
"""Levels of texture and of difference that count as none."""


@dataclass(frozen=True, slots=True)
class CropPlace:
    """The middle of a crop, as shares of a picture's width and height; and its square within the middle square."""

    x: float
    y: float
    left: float
    top: float
    size: float
    side: int
    """Pixels."""

    @property
    def box(self) -> str:
        """The square as a style for a frame that is laid over a square thumbnail."""
        parts = zip(("left", "top", "width", "height"), (self.left, self.top, self.size, self.size), strict=True)
        return ";".join(f"{name}:{100 * share:.2f}%" for name, share in parts)


@dataclass(frozen=True, slots=True)
class CropStrip:
    """The crops of a strip by image, and where they were cut."""

    crops: dict[str, str]
    place: CropPlace


def crop_strip(thumbnails: Thumbnails, images: Sequence[str], *, shown_at: int) -> CropStrip | None:
    """Crops of the images at one position; None if they cannot be read.

    `shown_at`: side in pixels at which a desktop page shows the thumbnails. There are no crops where that is enough.
    """
    shown = list(dict.fromkeys(images))
    if len(shown) < 2:
        return None
    place = find_place(thumbnails.view(shown[0]), thumbnails.view(shown[-1]), shown_at=shown_at)
    if place is None:
        return None
    crops = thumbnails.native(shown, place)
    return CropStrip(crops, place) if len(crops) > 1 else None


def find_place(first: bytes | None, last: bytes | None, *, shown_at: int) -> CropPlace | None:
    """Where to look: texture times difference, each averaged over the crop."""
    one, other = _grey(first), _grey(last)
    if one is None or other is None:
        return None
    height, width = one.shape
    square = min(height, width)
    side = min(MOST_SIDE, square // 2)
    if side < LEAST_SIDE or square < LEAST_REDUCED * shown_at:
        return None
    if other.shape != one.shape:
        other = cv2.resize(other, (width, height), interpolation=cv2.INTER_AREA)
    top, left = (height - square) // 2, (width - square) // 2
    inside = np.s_[top : top + square, left : left + square]
    texture = _averaged(np.abs(cv2.Laplacian(one, cv2.CV_32F))[inside], side)
    apart = _averaged(cv2.absdiff(one, other)[inside], side)
    weight = (texture + _FLAT) * (apart + _FLAT)
    y, x = (int(each) for each in np.unravel_index(int(weight.argmax()), weight.shape))
    middle = (left + x + side / 2) / width, (top + y + side / 2) / height
    return CropPlace(*middle, x / square, y / square, side / square, side)


def native_crop(data: bytes | None, place: CropPlace) -> bytes | None:
    """The crop as WebP, not resized; None if the bytes are no image or it is smaller than a crop."""
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    side = place.side
    if pixels is None or min(pixels.shape[:2]) < side:
        return None
    height, width = pixels.shape[:2]
    left = min(max(0, round(place.x * width - side / 2)), width - side)
    top = min(max(0, round(place.y * height - side / 2)), height - side)
    cut = np.ascontiguousarray(pixels[top : top + side, left : left + side])
    return cv2.imencode(".webp", cut, [cv2.IMWRITE_WEBP_QUALITY, _QUALITY])[1].tobytes()


def _grey(data: bytes | None) -> np.ndarray | None:
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE) if data else None
    return None if pixels is None else pixels.astype(np.float32)


def _averaged(plane: np.ndarray, side: int) -> np.ndarray:
    """The mean over the crop that begins at each pixel."""
    whole = np.ascontiguousarray(plane)
    total = cv2.boxFilter(whole, -1, (side, side), anchor=(0, 0), borderType=cv2.BORDER_ISOLATED)
    return total[: plane.shape[0] - side + 1, : plane.shape[1] - side + 1]
