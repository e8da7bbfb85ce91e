"""Land seen in perspective: a height for every place, a camera above it, front to back.

For every column of the sheet the land is walked outwards once; what rises above all that came before is seen.
That costs one height per column and distance instead of one per pixel and step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from convergebench.images.pictures.colour import mix
from convergebench.images.pictures.sheet import Colours, Plane, Sheet

Height = Callable[[Plane, Plane], Plane]
BAND_PIXELS = 1 << 18
FINE = 2
"""Rows per pixel row while walking; crests are averaged down to smooth outlines."""


@dataclass(frozen=True, slots=True)
class View:
    """Camera height over zero, where the horizon lies on the sheet (y), focal length in half short sides."""

    height: float = 1.0
    horizon: float = -0.2
    zoom: float = 1.6
    near: float = 0.6
    far: float = 120.0


@dataclass(frozen=True, slots=True)
class Land:
    """What each fine row and column shows: place (x, z), distance, and whether it is sky."""

    x: Plane
    z: Plane
    sky: Plane
    wide: Plane
    rows: Plane
    """Sheet y of the fine rows, one column."""

    def band(self, rows: slice) -> Land:
        """Some of the fine rows."""
        return Land(self.x[rows], self.z[rows], self.sky[rows], self.wide[rows], self.rows[rows])


def survey(sheet: Sheet, height: Height, view: View) -> Land:
    """Find the first land each line of sight meets."""
    rows = (np.arange(sheet.height * FINE, dtype=np.float32) + 0.5) / (sheet.unit * FINE) - sheet.bottom
    count = int(min(3600, 700 + sheet.height * 1.6))
    depths = np.geomspace(view.near, view.far, count).astype(np.float32)
    columns = sheet.x[0] / np.float32(view.zoom)
    ground = height(columns[None, :] * depths[:, None], np.broadcast_to(depths[:, None], (count, sheet.width)))
    seen_at = np.float32(view.horizon) - np.float32(view.zoom) * (ground - np.float32(view.height)) / depths[:, None]
    crest = np.minimum.accumulate(seen_at, axis=0)
    z = np.empty((len(rows), sheet.width), dtype=np.float32)
    steps = np.arange(count, dtype=np.float32)
    for column in range(sheet.width):
        line = crest[::-1, column]
        place = np.interp(rows, line, steps[::-1], left=count, right=0.0)
        z[:, column] = place
    sky = (z >= count - 1).astype(np.float32)
    base = np.log(np.float32(view.near))
    step = np.float32(np.log(view.far / view.near) / (count - 1))
    z = np.exp(base + step * np.minimum(z, count - 1))
    wide = z * np.float32(sheet.pixel / view.zoom)
    return Land(columns[None, :] * z, z, sky, wide, rows[:, None])


def tilt(height: Height, land: Land) -> tuple[Plane, Plane, Plane]:
    """Height and its slope along x and z at the places seen."""
    step = np.maximum(land.wide, 0.002)
    here = height(land.x, land.z)
    return here, (height(land.x + step, land.z) - here) / step, (height(land.x, land.z + step) - here) / step


def settle(sheet: Sheet, land: Land, paint: Callable[[Land], Colours], above: Colours) -> Colours:
    """Paint the land in bands that stay small, put the sky above it, average to the sheet's rows."""
    light = np.empty((3, sheet.height, sheet.width), dtype=np.float32)
    tall = max(8, BAND_PIXELS // (FINE * sheet.width))
    for top in range(0, sheet.height, tall):
        rows = slice(top, min(top + tall, sheet.height))
        part = land.band(slice(rows.start * FINE, rows.stop * FINE))
        fine = mix(paint(part), np.repeat(above[:, rows], FINE, axis=1), part.sky)
        light[:, rows] = fine.reshape(3, -1, FINE, sheet.width).mean(axis=2)
    return light
