"""Changes to a whole picture or a part of it: colour, light, focus, style."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from convergebench.editors.instructions.instruction import Change, Intent
from convergebench.editors.simulated.expression import EXPRESSIONS
from convergebench.editors.simulated.objects.canvas import Colour
from convergebench.editors.simulated.pixels import Pixels, pixels_of
from convergebench.editors.simulated.regions import Soft, region
from convergebench.editors.simulated.removal import inpaint


def change(pixels: Pixels, intent: Intent, *, where: Soft | None = None) -> Pixels:
    """Apply a change within the mask `where`, by default the region of the intent's subject."""
    action: Change = intent.action  # type: ignore[assignment]  # the editor hands over changes only
    if action in EXPRESSIONS:
        return EXPRESSIONS[action](pixels)
    if where is None and intent.subject is not None:
        where = region(pixels, intent.subject)
    if action == "recolour":
        assert intent.colour is not None
        return recolour(pixels, intent.colour, np.ones(pixels.shape[:2], np.float32) if where is None else where)
    changed = _CHANGES[action](pixels, intent.strength)
    if where is None:
        return changed
    return pixels_of(np.rint(pixels + (changed.astype(np.float32) - pixels) * where[..., None]))


def recolour(pixels: Pixels, colour: Colour, where: Soft) -> Pixels:
    """Recolour a region and keep its shading; its mean becomes the requested colour."""
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.float32)
    weight = float(where.sum())
    mean = float((grey * where).sum()) / weight if weight > 0 else 128.0
    shape = np.clip(grey / max(mean, 12.0), 0.25, 2.2)[..., None]
    tint = np.clip(np.array(colour, np.float32) * shape, 0, 255)
    return pixels_of(np.rint(pixels + (tint - pixels) * where[..., None]))


def opposite(action: Change) -> Change | None:
    """The change that best undoes another one without memory; None if there is none."""
    return _OPPOSITES.get(action)


def _gain(pixels: Pixels, gains: tuple[float, float, float], strength: float, lift: float = 0.0) -> Pixels:
    levels = np.arange(256, dtype=np.float32)
    table = [levels * (1 + (gain - 1) * strength) + lift * strength for gain in gains]
    return pixels_of(cv2.LUT(pixels, np.clip(np.rint(np.stack(table, axis=-1)), 0, 255).astype(np.uint8)[None]))


def _grey(pixels: Pixels, strength: float) -> Pixels:
    return pixels_of(cv2.cvtColor(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB))


def _colourise(pixels: Pixels, strength: float) -> Pixels:
    """A guess: cool colours above, warm ones below, as outdoors."""
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.float32)[..., None] / 255
    down = np.linspace(0, 1, pixels.shape[0], dtype=np.float32)[:, None, None]
    warm = np.array([1.16, 0.99, 0.82], np.float32)
    cool = np.array([0.90, 1.0, 1.14], np.float32)
    tone = cool + (warm - cool) * np.clip(down + 0.4 * (0.6 - grey), 0, 1)
    return pixels_of(np.clip(np.rint(grey * 255 * (1 + (tone - 1) * 4 * grey * (1 - grey))), 0, 255))


def _blur(pixels: Pixels, strength: float) -> Pixels:
    return pixels_of(cv2.GaussianBlur(pixels, (0, 0), max(0.6, 0.008 * strength * min(pixels.shape[:2]))))


def _sharpen(pixels: Pixels, strength: float) -> Pixels:
    soft = cv2.GaussianBlur(pixels, (0, 0), 1.2)
    return pixels_of(cv2.addWeighted(pixels, 1 + strength, soft, -strength, 0))


def _pixelate(pixels: Pixels, strength: float) -> Pixels:
    height, width = pixels.shape[:2]
    size = (
        max(1, min(width, round(36 * width / max(height, width)))),
        max(1, min(height, round(36 * height / max(height, width)))),
    )
    return pixels_of(
        cv2.resize(
            cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), (width, height), interpolation=cv2.INTER_NEAREST
        )
    )


def _denoise(pixels: Pixels, strength: float) -> Pixels:
    return pixels_of(cv2.bilateralFilter(pixels, 5, 18 * strength, 2.0))


def _edges(pixels: Pixels, strength: float) -> Pixels:
    grey = cv2.GaussianBlur(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), (0, 0), 1.0)
    return pixels_of(cv2.cvtColor(cv2.bitwise_not(cv2.Canny(grey, 60, 140)), cv2.COLOR_GRAY2RGB))


def _without_main(pixels: Pixels, strength: float) -> Pixels:
    mask = np.where(region(pixels, "main") > 0.08, 255, 0).astype(np.uint8)
    return inpaint(pixels, pixels_of(cv2.dilate(mask, np.ones((7, 7), np.uint8))))


_CHANGES: dict[Change, Callable[[Pixels, float], Pixels]] = {
    "brighter": lambda pixels, strength: _gain(pixels, (1.22, 1.22, 1.22), strength, 4),
    "darker": lambda pixels, strength: _gain(pixels, (0.82, 0.82, 0.82), strength, -3),
    "warmer": lambda pixels, strength: _gain(pixels, (1.10, 1.01, 0.86), strength),
    "cooler": lambda pixels, strength: _gain(pixels, (0.90, 0.99, 1.12), strength),
    "night": lambda pixels, strength: _gain(pixels, (0.26, 0.32, 0.52), 1.0),
    "day": lambda pixels, strength: _gain(pixels, (1.45, 1.40, 1.28), 1.0, 14),
    "sunset": lambda pixels, strength: _gain(pixels, (1.16, 0.88, 0.58), 1.0, 6),
    "morning": lambda pixels, strength: _gain(pixels, (1.06, 0.98, 0.92), 1.0, 12),
    "grey": _grey,
    "colourise": _colourise,
    "invert": lambda pixels, strength: pixels_of(cv2.bitwise_not(pixels)),
    "blur": _blur,
    "soften": lambda pixels, strength: _blur(pixels, 0.5 * strength),
    "sharpen": _sharpen,
    "detail": lambda pixels, strength: _sharpen(_blur(pixels, 1.0), 1.5),
    "pixelate": _pixelate,
    "patches": _pixelate,
    "edges": _edges,
    "denoise": _denoise,
    "enhance": lambda pixels, strength: _sharpen(_denoise(pixels, 1.0), 0.5),
    "blank": lambda pixels, strength: np.zeros_like(pixels),
    "remove-main": _without_main,
}

_OPPOSITES: dict[Change, Change] = {
    "brighter": "darker",
    "darker": "brighter",
    "warmer": "cooler",
    "cooler": "warmer",
    "grey": "colourise",
    "invert": "invert",
    "blur": "sharpen",
    "soften": "sharpen",
    "sharpen": "soften",
    "pixelate": "detail",
    "night": "day",
    "smile": "sad",
    "sad": "smile",
}
