"""Strokes laid over a picture: hairs, grass, threads, brush marks. Antialiased and subpixel-exact."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.pictures.colour import mix
from convergebench.images.pictures.sheet import SHIFT, Bytes, Colours, Plane, Sheet


class Strokes:
    """A transparent layer of strokes of one kind; coverage only, coloured when laid over."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.cover: Bytes = np.zeros((sheet.height, sheet.width), dtype=np.uint8)

    def line(self, points: Plane, width: float, strength: float = 1.0) -> None:
        """A line through sheet points, `width` units thick; strokes thinner than a pixel become fainter."""
        pixels = width * self.sheet.unit
        thick = max(1, round(pixels))
        tone = int(255 * min(1.0, strength * min(1.0, pixels / thick)))
        cv2.polylines(self.cover, [self.sheet.fixed(points)], False, tone, thick, cv2.LINE_AA, SHIFT)

    def shape(self, points: Plane, strength: float = 1.0) -> None:
        """A filled outline through sheet points."""
        cv2.fillPoly(self.cover, [self.sheet.fixed(points)], int(255 * min(1.0, strength)), cv2.LINE_AA, SHIFT)

    def over(self, light: Colours, colour: Plane) -> Colours:
        """The strokes laid over a picture in one colour."""
        cover = self.cover.astype(np.float32) / 255
        tone = np.asarray(colour, dtype=np.float32)
        return mix(light, tone[:, None, None] if tone.ndim == 1 else tone, cover)
