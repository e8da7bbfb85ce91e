"""A mountain lake: peaks, forest, still water."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import linear, mix, smoothstep, tint
from convergebench.images.pictures.conifers import forest_line
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.noise import fractal, profile, ridged, slope, warp
from convergebench.images.pictures.sheet import Colours, Plane, Sheet
from convergebench.images.pictures.sky import PALETTES, sky


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("lake")
    shore = float(rng.uniform(0.12, 0.28))
    palette = str(rng.choice(["noon", "rose", "gold", "sunset"]))
    side = float(rng.choice([-1, 1]))
    sun = (side * float(rng.uniform(0.4, 0.9)), shore - float(rng.uniform(0.5, 0.8))) if palette != "noon" else None
    light = sky(sheet, palette, horizon=shore, sun=sun, clouds=float(rng.uniform(0.3, 0.6)))
    haze = linear(PALETTES[palette][0][0])
    for number in range(3):
        light = _range(sheet, light, number, shore, side, haze)
    light = forest_line(sheet, light, shore, haze, rng)
    return develop(_water(sheet, light, shore, linear("1c3a44")), sheet, exposure=0.9, vignette=0.3)


def _range(sheet: Sheet, light: Colours, number: int, shore: float, side: float, haze: Plane) -> Colours:
    """One row of peaks, the first the farthest: snow above, rock and scree below."""
    rng = sheet.random(f"range {number}")
    tall = (1.15, 0.8, 0.36)[number] * float(rng.uniform(0.85, 1.1))
    line = profile(rng, sheet.x, (0.8, 1.0, 1.3)[number], octaves=9, gain=0.5)
    crest = shore - tall * (0.55 + 0.75 * line)
    bend = fractal(sheet, f"bend {number}", 1.4, octaves=5, gain=0.55)
    spurs = ridged(sheet, f"rock {number}", 1.5 + number, octaves=4, gain=0.42)
    gullies = np.abs(fractal(sheet, f"gullies {number}", 3.0 + number, octaves=7, gain=0.55, stretch=(1.5, 0.55)))
    relief = warp(0.68 * spurs + 0.42 * (0.75 - gullies), sheet, 0.16 * bend, 0.08 * bend)
    below = sheet.y - crest
    height = relief * 0.34 - np.abs(below) * 0.2 + sheet.plane()
    across, down = slope(height, sheet)
    lit = np.clip(0.42 - side * -0.55 * across - 0.30 * down, 0.02, 1.5)
    rock = mix(linear("3a3f48")[:, None, None], linear("8b8076")[:, None, None], np.clip(relief * 1.2 - 0.2, 0, 1))
    wood = mix(linear("1e2c20")[:, None, None], linear("3f5236")[:, None, None], np.clip(relief, 0, 1))
    line_of_trees = smoothstep(0.35, 0.55, below / max(tall, 0.1) + 0.25 * (relief - 0.5) + (0.0, 0.05, 0.25)[number])
    ground = mix(rock, wood, line_of_trees)
    steep = np.abs(across) + 0.6 * np.abs(down)
    line_of_snow = (0.42, 0.22, -0.3)[number] * tall + 0.35 * (relief - 0.5)
    snow = smoothstep(0.06, -0.06, below - line_of_snow) * smoothstep(2.4, 0.9, steep)
    ground = mix(ground, linear("dfe8f4")[:, None, None], snow * 0.92)
    # shadows are lit by the sky, so they are blue, most of all on snow
    sun_side = np.array([1.05, 0.98, 0.88], dtype=np.float32)[:, None, None] * lit
    ground = ground * (sun_side + np.array([0.13, 0.17, 0.25], dtype=np.float32)[:, None, None])
    mist = (0.40, 0.22, 0.10)[number] + 0.30 * smoothstep(0.3, 0.0, (shore - sheet.y)) * (1 - 0.3 * number)
    ground = mix(ground, haze[:, None, None] * np.float32(0.85), np.clip(mist, 0, 0.9) + sheet.plane())
    cover = smoothstep(-0.5, 0.5, below * sheet.unit) + sheet.plane()
    return mix(light, ground, cover)


def _water(sheet: Sheet, light: Colours, shore: float, deep: Plane) -> Colours:
    """Mirror the upper part in the water, with ripples that grow towards the viewer."""
    dip = np.maximum(sheet.y - np.float32(shore), 0.0)
    near = dip / np.float32(sheet.bottom - shore)
    waves = fractal(sheet, "waves", 3.0, octaves=7, gain=0.62, stretch=(1.0, 6.0))
    breeze = smoothstep(-0.1, 0.5, fractal(sheet, "breeze", 0.8, octaves=4, stretch=(0.6, 4.0)))
    shake = waves * (0.012 + 0.07 * near) * (0.35 + 0.9 * breeze)
    rows = (np.float32(shore) - dip * (0.92 - 0.05 * near) + shake + sheet.bottom) * sheet.unit - 0.5
    columns = (sheet.x + 0.3 * shake + sheet.right) * sheet.unit - 0.5
    map_x = np.broadcast_to(columns, (sheet.height, sheet.width)).astype(np.float32)
    map_y = np.minimum(rows, (shore + sheet.bottom) * sheet.unit - 1).astype(np.float32)
    mirrored = np.stack(
        [
            cv2.remap(np.ascontiguousarray(p), map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)
            for p in light
        ]
    )
    clear = 0.12 + 0.5 * near * near
    water = mix(mirrored * np.float32(0.82), deep[:, None, None], clear + sheet.plane())
    water = water + tint(np.array([1.0, 1.0, 1.0], dtype=np.float32), np.clip(waves - 0.25, 0, 1) * breeze * 0.05)
    bank = np.exp(-np.square(dip / 0.012)) * np.float32(0.45)
    return mix(light, water * (1 - bank), smoothstep(-0.5, 0.5, (sheet.y - shore) * sheet.unit) + sheet.plane())
