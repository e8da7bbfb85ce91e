"""A canvas for sprites: smooth shapes, rounded shading, soft shadows.

Coordinates are in units of the object's width, y down; a margin on all sides leaves room for soft edges. Shapes are
masks, which are painted over each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

Colour = tuple[int, int, int]
Points = Sequence[tuple[float, float]]
Shape = NDArray[np.float32]
"""A mask, 0 … 1, the size of the canvas."""

Sprite = NDArray[np.float32]
"""Height × width × 4: RGB multiplied by alpha (0 … 255), then alpha (0 … 1)."""

RESOLUTION = 400
MARGIN = 0.08
"""Margin around the object, in units of its width."""

_SHIFT = 4
_LIGHT = np.array([-0.45, -0.65, 0.61], np.float32)


class Canvas:
    """An empty sprite for an object `height` times as high as it is wide."""

    def __init__(self, height: float = 1.0) -> None:
        self.unit = RESOLUTION
        self.width = round(RESOLUTION * (1 + 2 * MARGIN))
        self.height = round(RESOLUTION * (height + 2 * MARGIN))
        self.sprite: Sprite = np.zeros((self.height, self.width, 4), np.float32)

    # shapes

    def ellipse(self, x: float, y: float, rx: float, ry: float, *, angle: float = 0.0) -> Shape:
        """A filled ellipse, turned by `angle` degrees."""
        turn = np.linspace(0, 2 * np.pi, 90, endpoint=False)
        cosine, sine = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        across, along = rx * np.cos(turn), ry * np.sin(turn)
        return self.polygon(
            list(zip(x + across * cosine - along * sine, y + across * sine + along * cosine, strict=True))
        )

    def polygon(self, points: Points, *, smooth: bool = False) -> Shape:
        """A filled outline; `smooth` rounds it through its points."""
        board = self._board()
        cv2.fillPoly(board, [self._fixed(curve(points, closed=True) if smooth else points)], 255, cv2.LINE_AA, _SHIFT)
        return self._shape(board)

    def box(self, x: float, y: float, width: float, height: float, *, radius: float = 0.0) -> Shape:
        """A filled rectangle from its upper left corner, corners rounded."""
        if radius <= 0:
            return self.polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)])
        radius = min(radius, width / 2, height / 2)
        corners = [(x + width - radius, y + radius, -90), (x + width - radius, y + height - radius, 0)]
        corners += [(x + radius, y + height - radius, 90), (x + radius, y + radius, 180)]
        turns = [(cx, cy, np.radians(a + step)) for cx, cy, a in corners for step in range(0, 91, 10)]
        return self.polygon([(cx + radius * np.cos(a), cy + radius * np.sin(a)) for cx, cy, a in turns])

    def stroke(self, points: Points, width: float, *, smooth: bool = True, closed: bool = False) -> Shape:
        """A line of even width with round ends."""
        board = self._board()
        path = curve(points, closed=closed) if smooth and len(points) > 2 else points
        thickness = max(1, round(width * self.unit))
        cv2.polylines(board, [self._fixed(path)], closed, 255, thickness, cv2.LINE_AA, _SHIFT)
        return self._shape(board)

    # painting

    def paint(
        self,
        shape: Shape,
        colour: Colour,
        *,
        round_by: float = 0.0,
        gloss: float = 0.0,
        opacity: float = 1.0,
        fade: tuple[float, float] | None = None,
        grain: float = 0.0,
    ) -> None:
        """Paint a shape over the sprite.

        `round_by` rounds it (radius of its edge), `gloss` adds a highlight, `fade` multiplies brightness from
        top to bottom of the shape, `grain` roughens it. Light falls from the upper left.
        """
        left, top, across, down = cv2.boundingRect((shape > 0).astype(np.uint8))
        if not across:
            return
        window = np.s_[top : top + down, left : left + across]
        shape = shape[window]
        tint = np.empty((*shape.shape, 3), np.float32)
        tint[:] = colour
        if fade is not None:
            tint *= np.linspace(fade[0], fade[1], down, dtype=np.float32)[:, None, None]
        if round_by > 0:
            light = _relief(shape, round_by * self.unit)
            tint *= (0.38 + 0.8 * light)[..., None]
            if gloss > 0:
                tint += (255 * gloss * np.clip((light - 0.82) / 0.18, 0, 1) ** 3)[..., None]
        if grain > 0:
            noise = np.random.default_rng(7).normal(0, grain, shape.shape).astype(np.float32)
            tint *= 1 + np.asarray(cv2.GaussianBlur(noise, (0, 0), 1.6), np.float32)[..., None] * 3
        self._over(self.sprite[window], np.clip(tint, 0, 255), shape * opacity)

    def shadow(self, *, dx: float = 0.0, dy: float = 0.02, blur: float = 0.02, opacity: float = 0.4) -> None:
        """A soft shadow of everything painted so far on the background."""
        move = np.array([[1, 0, dx * self.unit], [0, 1, dy * self.unit]], np.float32)
        alpha = cv2.warpAffine(self.sprite[..., 3], move, (self.width, self.height))
        self._under(np.asarray(cv2.GaussianBlur(alpha, (0, 0), blur * self.unit), np.float32) * opacity)

    def ground(self, x: float, y: float, rx: float, ry: float, *, opacity: float = 0.45) -> None:
        """A soft shadow on the ground, under everything painted so far."""
        shape = self.ellipse(x, y, rx, ry)
        self._under(np.asarray(cv2.GaussianBlur(shape, (0, 0), ry * 0.45 * self.unit), np.float32) * opacity)

    # inside

    def _over(self, below: Sprite, tint: NDArray[np.float32], alpha: Shape) -> None:
        below *= (1 - alpha)[..., None]
        below[..., :3] += tint * alpha[..., None]
        below[..., 3] += alpha

    def _under(self, alpha: Shape) -> None:
        self.sprite[..., 3] += alpha * (1 - self.sprite[..., 3])

    def _board(self) -> NDArray[np.uint8]:
        return np.zeros((self.height, self.width), np.uint8)

    def _shape(self, board: NDArray[np.uint8]) -> Shape:
        return np.asarray(board, np.float32) / np.float32(255)

    def _fixed(self, points: Points) -> NDArray[np.int32]:
        return np.rint((np.array(points, np.float64) + MARGIN) * self.unit * (1 << _SHIFT)).astype(np.int32)


def curve(points: Points, *, closed: bool = False, steps: int = 10) -> list[tuple[float, float]]:
    """A smooth (Catmull–Rom) line through the points."""
    known = np.array(points, np.float64)
    last = len(known) if closed else len(known) - 1
    out: list[tuple[float, float]] = []
    for i in range(last):
        near = [(i + step) % len(known) if closed else min(max(i + step, 0), len(known) - 1) for step in (-1, 0, 1, 2)]
        a, b, c, d = known[near]
        for t in np.arange(steps) / steps:
            x, y = 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
            out.append((float(x), float(y)))
    if not closed:
        out.append((float(known[-1][0]), float(known[-1][1])))
    return out


def shade(colour: Colour, factor: float) -> Colour:
    """A darker (< 1) or lighter (> 1) version of a colour."""
    red, green, blue = (int(min(255, max(0, part * factor))) for part in colour)
    return red, green, blue


def _relief(shape: Shape, radius: float) -> Shape:
    """How much light a shape with a rounded edge receives, about 0 … 1."""
    inside = (np.pad(shape, 1) > 0.5).astype(np.uint8)
    distance = np.asarray(cv2.distanceTransform(inside, cv2.DIST_L2, 5), np.float32)[1:-1, 1:-1]
    height = radius * np.sqrt(np.clip(1 - (1 - np.minimum(distance / radius, 1)) ** 2, 0, 1))
    height = np.asarray(cv2.GaussianBlur(height, (0, 0), max(1.0, radius * 0.12)), np.float32)
    slope_x = np.asarray(cv2.Sobel(height, cv2.CV_32F, 1, 0, scale=0.125), np.float32)
    slope_y = np.asarray(cv2.Sobel(height, cv2.CV_32F, 0, 1, scale=0.125), np.float32)
    facing = (-slope_x * _LIGHT[0] - slope_y * _LIGHT[1] + _LIGHT[2]) / np.sqrt(slope_x**2 + slope_y**2 + 1)
    return np.asarray(np.clip(facing, 0, 1), np.float32)
