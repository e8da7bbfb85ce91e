"""Drawing with clean colours: smooth outlines, flat fills, one step of shade, ink lines."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import encode
from convergebench.images.pictures.sheet import SHIFT, Bytes, Plane, Sheet

Colour = tuple[int, int, int]


def rgb(linear_colour: Plane, strength: float = 1.0) -> Colour:
    """8-bit colour of linear light."""
    values = np.clip(np.round(encode(np.asarray(linear_colour) * np.float32(strength)) * 255), 0, 255)
    return int(values[0]), int(values[1]), int(values[2])


def smooth(points: Plane, *, closed: bool = True, steps: int = 8) -> Plane:
    """A curve through points (Catmull–Rom)."""
    count = len(points)
    index = np.arange(count if closed else count - 1)
    around = [
        points[(index + k) % count] if closed else points[np.clip(index + k, 0, count - 1)] for k in (-1, 0, 1, 2)
    ]
    p0, p1, p2, p3 = (p[:, None, :] for p in around)
    t = (np.arange(steps) / steps)[None, :, None]
    curve = 0.5 * (2 * p1 + (p2 - p0) * t + (2 * p0 - 5 * p1 + 4 * p2 - p3) * t**2 + (3 * p1 - p0 - 3 * p2 + p3) * t**3)
    flat = curve.reshape(-1, 2)
    return flat if closed else np.concatenate([flat, points[-1:]])


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a part is drawn: size, turn (radians), position."""

    scale: float = 1.0
    turn: float = 0.0
    x: float = 0.0
    y: float = 0.0

    def __call__(self, points: Plane) -> Plane:
        """Part coordinates to sheet coordinates."""
        c, s = np.cos(self.turn), np.sin(self.turn)
        x, y = points[:, 0] * c - points[:, 1] * s, points[:, 0] * s + points[:, 1] * c
        return np.stack([x * self.scale + self.x, y * self.scale + self.y], axis=1)


class Ink:
    """A drawing in progress, at twice the sheet's resolution where that is affordable."""

    def __init__(self, sheet: Sheet, ground: Bytes | Colour) -> None:
        self.sheet = sheet
        self.fine = 2 if max(sheet.width, sheet.height) <= 2200 else 1
        shape = (sheet.height * self.fine, sheet.width * self.fine, 3)
        self.canvas: Bytes = np.empty(shape, dtype=np.uint8)
        self.canvas[:] = ground
        self.line_colour: Colour = (38, 28, 44)

    def _fixed(self, points: Plane) -> NDArray[np.int32]:
        return self.sheet.fixed(points, fine=self.fine)

    def fill(self, points: Plane, colour: Colour) -> None:
        """A plain shape."""
        cv2.fillPoly(self.canvas, [self._fixed(points)], colour, cv2.LINE_AA, SHIFT)

    def line(self, points: Plane, width: float, colour: Colour | None = None) -> None:
        """An ink line, `width` in units."""
        thick = max(1, round(width * self.sheet.unit * self.fine))
        cv2.polylines(self.canvas, [self._fixed(points)], False, colour or self.line_colour, thick, cv2.LINE_AA, SHIFT)

    def part(
        self,
        points: Plane,
        colour: Colour,
        *,
        shade: Colour | None = None,
        fall: tuple[float, float] = (-0.02, -0.014),
        width: float = 0.007,
    ) -> None:
        """A shape with a step of shade on the side away from the light, and its outline."""
        fixed = self._fixed(points)
        cv2.fillPoly(self.canvas, [fixed], colour, cv2.LINE_AA, SHIFT)
        if shade is not None:
            self._shaded(points, shade, fall)
        if width:
            thick = max(1, round(width * self.sheet.unit * self.fine))
            cv2.polylines(self.canvas, [fixed], True, self.line_colour, thick, cv2.LINE_AA, SHIFT)

    def window(self, points: Plane) -> tuple[slice, slice] | None:
        """The rows and columns a shape can touch."""
        unit = self.sheet.unit * self.fine
        corner = np.array([self.sheet.right, self.sheet.bottom])
        low = np.floor((points.min(axis=0) + corner) * unit).astype(int) - 2
        high = np.ceil((points.max(axis=0) + corner) * unit).astype(int) + 3
        rows = slice(max(0, int(low[1])), min(self.canvas.shape[0], int(high[1])))
        columns = slice(max(0, int(low[0])), min(self.canvas.shape[1], int(high[0])))
        return (rows, columns) if rows.stop > rows.start and columns.stop > columns.start else None

    def mask(self, points: Plane, window: tuple[slice, slice]) -> Plane:
        """Coverage of a shape inside a window, 0…1."""
        rows, columns = window
        cover = np.zeros((rows.stop - rows.start, columns.stop - columns.start), dtype=np.uint8)
        moved = self._fixed(points) - np.array([columns.start, rows.start], dtype=np.int32) * 2**SHIFT
        cv2.fillPoly(cover, [moved], 255, cv2.LINE_AA, SHIFT)
        return cover.astype(np.float32) / 255

    def blend(self, window: tuple[slice, slice], colour: Colour | Plane, cover: Plane) -> None:
        """Lay a colour (or height × width × 3 of them) over a window."""
        below = self.canvas[window].astype(np.float32)
        self.canvas[window] = np.round(
            below + (np.asarray(colour, dtype=np.float32) - below) * cover[..., None]
        ).astype(np.uint8)

    def _shaded(self, points: Plane, shade: Colour, fall: tuple[float, float]) -> None:
        window = self.window(points)
        if window is not None:
            self.blend(window, shade, self.mask(points, window) * (1 - self.mask(points + fall, window)))

    def finished(self) -> Pixels:
        """The drawing at the sheet's size."""
        if self.fine == 1:
            return self.canvas
        small = cv2.resize(self.canvas, (self.sheet.width, self.sheet.height), interpolation=cv2.INTER_AREA)
        return np.asarray(small, dtype=np.uint8)
