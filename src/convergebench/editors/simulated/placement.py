"""Where an object is placed, determined only by the picture and the instruction."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from convergebench.editors.instructions.instruction import Intent
from convergebench.editors.simulated.face import FaceLayout, find_face
from convergebench.editors.simulated.objects.canvas import Colour, Sprite
from convergebench.editors.simulated.objects.catalogue import THINGS, WORN, DrawnObject, aspect, sprite
from convergebench.editors.simulated.pixels import Mask, Pixels


@dataclass(frozen=True, slots=True)
class PlacedSprite:
    """A sprite and the pixel of its upper left corner, which may be outside the picture."""

    sprite: Sprite
    left: int
    top: int

    def window(self, shape: tuple[int, ...]) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
        """The part of the picture covered, and the part of the sprite that covers it."""
        high, wide = self.sprite.shape[:2]
        top, left = max(0, self.top), max(0, self.left)
        bottom, right = min(shape[0], self.top + high), min(shape[1], self.left + wide)
        bottom, right = max(bottom, top), max(right, left)
        there = np.s_[top:bottom, left:right]
        return there, np.s_[top - self.top : bottom - self.top, left - self.left : right - self.left]


def place(pixels: Pixels, intent: Intent, *, already: int = 0, face: FaceLayout | None = None) -> PlacedSprite:
    """Place the object of an intent. `already` counts earlier additions, so that they do not pile up.

    `face` is used instead of searching for it.
    """
    assert intent.thing is not None
    thing = THINGS[intent.thing]
    colour: Colour = intent.colour or thing.colour
    height, width = pixels.shape[:2]
    if thing.anchor in WORN:
        x, y, across = _on_person(face or find_face(pixels), thing, aspect(intent.thing))
    elif thing.anchor == "wrist":
        x, y, across = 0.30 * width, 0.86 * height, thing.size * min(width, height)
    else:
        x, y, across = _in_scene(pixels, intent, aspect(intent.thing), already)
    drawn = sprite(intent.thing, colour, max(1, round(across)))
    return PlacedSprite(drawn, round(x - drawn.shape[1] / 2), round(y - drawn.shape[0] / 2))


def composite(pixels: Pixels, placed: PlacedSprite) -> Pixels:
    """A new picture with the sprite laid over it."""
    there, part = placed.window(pixels.shape)
    out = pixels.copy()
    over = placed.sprite[part]
    out[there] = np.clip(pixels[there] * (1 - over[..., 3:]) + over[..., :3] + 0.5, 0, 255).astype(np.uint8)
    return out


def coverage(shape: tuple[int, ...], placed: PlacedSprite) -> Mask:
    """Mask of the pixels that the sprite and its shadow hide (255, else 0), without lenses, which only tint."""
    there, part = placed.window(shape)
    mask = np.zeros(shape[:2], np.uint8)
    mask[there] = np.where(placed.sprite[part][..., 3] > 0.08, 255, 0)
    return mask


def _on_person(face: FaceLayout, thing: DrawnObject, tall: float) -> tuple[float, float, float]:
    """Centre and width of a worn object."""
    across = thing.size * face.width
    half = across * tall / 2
    y = {
        "eyes": face.eyes + 0.02 * face.width,
        "head": face.brow + 0.07 * face.width - half,
        "cap": face.brow + 0.02 * face.width - half,
        "ears": face.eyes + 0.30 * face.width + half,
        "over-ears": face.eyes + 0.42 * face.width - half,
        "jaw": face.eyes + 0.19 * face.width + half,
        "lip": face.lip,
        "neck": face.chin + 0.10 * face.width + half,
        "scarf": face.chin - 0.02 * face.width + half,
        "collar": face.chin + 0.32 * face.width + (half if tall > 1 else 0.0),
    }[thing.anchor]
    return face.x, y, across


_BASE = {"floor": 0.95, "table": 0.88, "hand": 0.90, "wall": 0.34, "air": 0.46}
_SPOTS = (0.5, 0.72, 0.28, 0.84, 0.16)


def _in_scene(pixels: Pixels, intent: Intent, tall: float, already: int) -> tuple[float, float, float]:
    """Centre and width of an object in a scene."""
    assert intent.thing is not None
    height, width = pixels.shape[:2]
    thing = THINGS[intent.thing]
    spot = intent.place or ""
    across = thing.size * min(width, height)
    base = _BASE[thing.anchor]
    if spot == "foreground":
        across, base = across * 1.15, max(base, 0.965)
    elif spot == "background":
        across, base = across * 0.6, 0.66
    elif spot == "table":
        base = 0.86
    elif spot == "floor":
        base = 0.96
    elif spot.startswith("top"):
        base = min(0.98, 0.04 + across * tall / height)
    across = min(across, 0.9 * width, 0.9 * height / tall)
    column = _column(pixels, spot, across / width, already)
    if already and not spot:
        base -= 0.11 * (already % 3)
    return column * width, base * height - across * tall / 2, across


def _column(pixels: Pixels, spot: str, share: float, already: int) -> float:
    """The object's centre, as a share of the width."""
    edge = share / 2 + 0.03
    if "left" in spot:
        return max(edge, 0.2)
    if "right" in spot or spot == "corner":
        return min(1 - edge, 0.8 if spot == "right" else 0.86)
    if spot in ("foreground", "centre"):
        return 0.5
    if already:
        return edge + (1 - 2 * edge) * ((0.5 + 0.618034 * already) % 1.0)
    return min(max(_calmest(pixels), edge), 1 - edge)


def _calmest(pixels: Pixels) -> float:
    """The position in the lower half with the least detail; ties go to the middle."""
    low = pixels[pixels.shape[0] // 2 :]
    small = np.asarray(cv2.resize(low, (40, 16), interpolation=cv2.INTER_AREA), np.float32).mean(axis=2)
    busy = [
        float(small[:, int(spot * 40) - 4 : int(spot * 40) + 5].std()) + 3 * order for order, spot in enumerate(_SPOTS)
    ]
    return _SPOTS[int(np.argmin(busy))]
