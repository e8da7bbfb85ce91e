"""Things cut out of photographs and put into others, and pictures drawn anew with every outline moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from convergebench.images.frame import Pixels

Change = Callable[[Pixels], Pixels]
Spot = tuple[float, float]


def places(chance: np.random.Generator, count: int) -> list[Spot]:
    """Middles, in shares, none nearer to another than a thing is wide."""
    cells = [(x, y) for y in (0.25, 0.55, 0.82) for x in (0.14, 0.38, 0.62, 0.86)]
    return [cells[int(place)] for place in chance.permutation(len(cells))[:count]]


def cut_out(others: list[Pixels], chance: np.random.Generator) -> Pixels:
    """A part of another picture that has something on it."""
    parts = []
    for _ in range(4):
        pixels = others[int(chance.integers(len(others)))]
        side = round(float(chance.uniform(0.2, 0.35)) * min(pixels.shape[:2]))
        top = int(chance.integers(pixels.shape[0] - side))
        left = int(chance.integers(pixels.shape[1] - side))
        parts.append(pixels[top : top + side, left : left + side])
    return max(parts, key=lambda part: float(part.std()))


def putter(thing: Pixels, spot: Spot, bare: Pixels | None, share: float = 0.19) -> Change:
    """Lays the thing on a picture as an oval, around its middle; `bare` is what the place is first put back to."""

    def put(pixels: Pixels) -> Pixels:
        out = pixels.astype(np.float32)
        if bare is not None:
            weight = _oval(pixels, spot, 0.26)
            out += (bare - out) * weight
        size = round(share * min(pixels.shape[:2]))
        small = np.asarray(cv2.resize(thing, (size, size), interpolation=cv2.INTER_AREA), np.float32)
        middle = round(spot[1] * pixels.shape[0]), round(spot[0] * pixels.shape[1])
        top = int(np.clip(middle[0] - size // 2, 0, pixels.shape[0] - size))
        left = int(np.clip(middle[1] - size // 2, 0, pixels.shape[1] - size))
        there = np.s_[top : top + size, left : left + size]
        reach = np.linspace(-1, 1, size)
        inside = np.clip((1 - np.hypot(reach[:, None], reach[None, :])) / 0.1, 0, 1)[..., None]
        out[there] += (small - out[there]) * inside
        return np.asarray(np.clip(np.rint(out), 0, 255), np.uint8)

    return put


def redrawn(put: Change, seed: int) -> Change:
    """The thing put in, and the whole picture drawn anew: nothing stays quite where it was, nor quite as bright."""

    def drawn(pixels: Pixels) -> Pixels:
        chance = np.random.default_rng(seed)
        pixels = put(pixels)
        height, width = pixels.shape[:2]
        waves = chance.normal(0, 1, (6, 6, 3)).astype(np.float32)
        field = np.asarray(cv2.resize(waves, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)
        there_x = np.arange(width, dtype=np.float32) + 1.5 * field[..., 0]
        there_y = np.arange(height, dtype=np.float32)[:, None] + 1.5 * field[..., 1]
        moved = cv2.remap(pixels, there_x, there_y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        lit = np.asarray(moved, np.float32) * (1 + 0.03 * field[..., 2:])
        return np.asarray(np.clip(np.rint(lit), 0, 255), np.uint8)

    return drawn


def _oval(pixels: Pixels, spot: Spot, reach: float) -> np.ndarray[Any, Any]:
    rows, columns = np.ogrid[: pixels.shape[0], : pixels.shape[1]]
    radius = reach * min(pixels.shape[:2]) / 2
    away = np.hypot(rows - spot[1] * pixels.shape[0], columns - spot[0] * pixels.shape[1])
    return np.asarray(np.clip((radius - away) / 6, 0, 1)[..., None], np.float32)
