"""Where a standing or floating object goes, and how large it is there: by the horizon and by what is in the scene."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from convergebench.editors.inpaint.cutouts import Cutout
from convergebench.editors.inpaint.things import HEIGHTS, KnownThing
from convergebench.images.frame import Pixels
from convergebench.vision.objects import DetectedObject

CAMERA = 1.4
"""Height of the camera above the ground in metres, where nothing in the image tells the scale."""
USUAL_HORIZON = 0.45
WIDEST = 0.45
"""Greatest width of an object, as a share of the picture's width."""
TRIES = 24


class Spot(NamedTuple):
    """Column of the middle, row of the base, and height, in pixels."""

    middle: float
    base: float
    height: float


def choose_spot(
    image: Pixels,
    objects: list[DetectedObject],
    cutout: Cutout,
    thing: KnownThing,
    place: str | None,
    random: np.random.Generator,
) -> Spot:
    """The best of several spots that fit the place that the words name: it hides as little as possible."""
    horizon = find_horizon(image)
    spots = [_drawn(image, objects, cutout, thing, place, horizon, random) for _ in range(TRIES)]
    return min(spots, key=lambda spot: _hidden(spot, cutout, image, objects))


def find_horizon(image: Pixels) -> float:
    """The row with the clearest change from top to bottom over the picture's width; else a little above the middle."""
    import cv2

    height, width = image.shape[:2]
    if min(height, width) < 16:
        return float(USUAL_HORIZON * height)
    grey = cv2.cvtColor(cv2.resize(image, (96, 96), interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY).astype(
        np.float32
    )
    above = cv2.boxFilter(grey, -1, (1, 9), anchor=(0, 8), borderType=cv2.BORDER_REPLICATE)
    below = cv2.boxFilter(grey, -1, (1, 9), anchor=(0, 0), borderType=cv2.BORDER_REPLICATE)
    change = np.abs(np.mean(above[:-1] - below[1:], axis=1))
    first, last = int(0.3 * 96), int(0.62 * 96)
    row = first + int(np.argmax(change[first:last]))
    clear = change[row] > 18 and change[row] > 2.5 * np.median(change)
    return float((row + 0.5) / 96 * height if clear else USUAL_HORIZON * height)


def pixels_per_metre(objects: list[DetectedObject], horizon: float, base: float, height: int) -> float:
    """The scale at a row of the ground, by objects of known height or else by the usual height of a camera."""
    depth = max(base - horizon, 0.08 * height)
    known = []
    for one in objects:
        if one.label in HEIGHTS and one.box.bottom < 0.995 * height and one.box.top > 0.005 * height:
            known.append(one.box.height / HEIGHTS[one.label] / max(one.box.bottom - horizon, 0.08 * height))
    return float(depth * (np.median(known) if known else 1 / CAMERA))


def _drawn(
    image: Pixels,
    objects: list[DetectedObject],
    cutout: Cutout,
    thing: KnownThing,
    place: str | None,
    horizon: float,
    random: np.random.Generator,
) -> Spot:
    height, width = image.shape[:2]
    across = random.uniform(*_columns(place))
    if thing.where == "air":
        size = random.uniform(*thing.shares) * height
        size = min(size, WIDEST * width * cutout.alpha.shape[0] / cutout.alpha.shape[1])
        return Spot(across * width, random.uniform(0.03, 0.2) * height + size, size)
    base = height if cutout.origin.bottom_edge else random.uniform(*_rows(place)) * height
    size = cutout.origin.height * pixels_per_metre(objects, horizon, base, height)
    size = float(np.clip(size, thing.shares[0] * height, thing.shares[1] * height))
    size = min(size, WIDEST * width * cutout.alpha.shape[0] / cutout.alpha.shape[1])
    half = size * cutout.alpha.shape[1] / cutout.alpha.shape[0] / 2
    middle = float(np.clip(across * width, min(half, width / 2), max(width - half, width / 2)))
    return Spot(middle, base, size)


def _columns(place: str | None) -> tuple[float, float]:
    side = place or ""
    if side.endswith("left"):
        return 0.1, 0.3
    if side.endswith("right") or side == "corner":
        return 0.7, 0.9
    return (0.4, 0.6) if side == "centre" else (0.15, 0.85)


def _rows(place: str | None) -> tuple[float, float]:
    if place == "background":
        return 0.66, 0.76
    return (0.92, 0.97) if place == "foreground" else (0.86, 0.96)


def _hidden(spot: Spot, cutout: Cutout, image: Pixels, objects: list[DetectedObject]) -> float:
    """How much a spot hides: shares of detected objects, and detail under it."""
    height, width = image.shape[:2]
    half = spot.height * cutout.alpha.shape[1] / cutout.alpha.shape[0] / 2
    left, right = max(0, int(spot.middle - half)), min(width, int(spot.middle + half) + 1)
    top, bottom = max(0, int(spot.base - spot.height)), min(height, int(spot.base) + 1)
    part = image[top:bottom, left:right]
    total = float(part.astype(np.float32).std()) / 255 if part.size else 1.0
    for one in objects:
        across = min(right, one.box.right) - max(left, one.box.left)
        down = min(bottom, one.box.bottom) - max(top, one.box.top)
        if across > 0 and down > 0:
            total += one.score * across * down / max(1, min(one.box.area, (right - left) * (bottom - top)))
    return total
