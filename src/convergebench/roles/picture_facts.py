"""What a template can say about a picture: what stands out, its colour, where it is. Measured; named by a detector."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from convergebench.images.decode import decode
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import identity, search

DETECTOR = "human-models"
SIDE = 72
"""Longer side at which colours and places are measured."""
SURE = 0.5
"""Least score of an object that is called by its name."""
PALETTE: dict[str, tuple[int, int, int]] = {
    "red": (190, 40, 40), "orange": (230, 130, 40), "yellow": (230, 205, 60), "green": (70, 130, 60),
    "turquoise": (60, 170, 170), "blue": (50, 90, 180), "purple": (115, 60, 150), "pink": (230, 140, 170),
    "brown": (110, 75, 50), "beige": (210, 190, 160), "black": (25, 25, 28), "grey": (128, 128, 128),
    "white": (240, 240, 238),
}  # fmt: skip
"""Names of colours, and a colour that each stands for."""


@dataclass(frozen=True, slots=True)
class PictureFacts:
    """What stands out in a picture."""

    name: str
    """What the detector calls it, or `main object`."""
    colour: str
    side: str
    """`left`, `middle` or `right`."""
    calm_edge: str
    """`top` or `bottom`: where there is less to be covered."""


def detector_identity() -> str:
    """Which detector names objects here; empty if there is none."""
    return identity(DETECTOR) if find_spec("torch") and search(find_weight(DETECTOR)) is not None else ""


def look_at(data: bytes, *, with_names: bool) -> PictureFacts:
    """The facts of one picture file."""
    import cv2

    pixels = decode(data, what="the writer's picture", alpha="white").pixels
    scale = min(1.0, SIDE / max(pixels.shape[:2]))
    size = max(2, round(pixels.shape[1] * scale)), max(2, round(pixels.shape[0] * scale))
    small = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    lab = _lab(small)
    weight, name = _what_stands_out(lab), "main object"
    found = _named(pixels) if with_names else None
    if found is not None:
        name, (left, top, right, bottom) = found
        inside = np.zeros_like(weight)
        box = np.array([left, right]) * size[0] / pixels.shape[1], np.array([top, bottom]) * size[1] / pixels.shape[0]
        (x0, x1), (y0, y1) = ((int(low), max(int(low) + 1, round(float(high)))) for low, high in box)
        inside[y0:y1, x0:x1] = 1
        weight = inside * (0.05 + weight)
    total = float(weight.sum()) or 1.0
    across = float((weight.sum(axis=0) * np.linspace(0, 1, size[0])).sum()) / total
    colour = colour_name(np.median(lab[weight >= np.percentile(weight, 90)], axis=0))
    side = "left" if across < 0.4 else "right" if across > 0.6 else "middle"
    strip = max(1, size[1] // 5)
    calm = "top" if float(lab[:strip].std()) <= float(lab[-strip:].std()) else "bottom"
    return PictureFacts(name, colour, side, calm)


def colour_name(lab: NDArray[np.floating]) -> str:
    """The name of a colour in Lab; lightness counts less than hue."""
    near = {name: _lab(np.array([[value]], np.uint8))[0, 0] for name, value in PALETTE.items()}
    return min(near, key=lambda name: float((((near[name] - lab) * (0.6, 1, 1)) ** 2).sum()))


def _what_stands_out(lab: NDArray[np.float32]) -> NDArray[np.float32]:
    """How far each pixel's colour is from those of the picture's rim, less towards the rim."""
    rim = np.concatenate([lab[0], lab[-1], lab[:, 0], lab[:, -1]])
    far = np.min([np.linalg.norm(lab - one, axis=2) for one in np.percentile(rim, (15, 50, 85), axis=0)], axis=0)
    across, down = np.linspace(-1, 1, lab.shape[1]), np.linspace(-1, 1, lab.shape[0])
    return np.asarray(far * np.exp(-1.2 * (across[None] ** 2 + down[:, None] ** 2)), np.float32)


def _named(pixels: NDArray[np.uint8]) -> tuple[str, tuple[int, int, int, int]] | None:
    """The largest thing that the detector is sure of, persons last: they have edit types of their own."""
    from convergebench.vision.objects import detect_objects

    most = 0.8 * pixels.shape[0] * pixels.shape[1]
    sure = [one for one in detect_objects(pixels, threshold=SURE) if one.box.area < most]
    if not sure:
        return None
    best = max(sure, key=lambda one: (one.label != "person", one.score * one.box.area))
    return best.label, (best.box.left, best.box.top, best.box.right, best.box.bottom)


def _lab(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    import cv2

    return np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), np.float32)
