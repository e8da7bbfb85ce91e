"""Exploding coloured powder: billowing clouds, saturated colours, a rain of grains."""

from __future__ import annotations

import colorsys

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import decode, hsv, linear, mix, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.noise import fractal, slope, soften, warp
from convergebench.images.pictures.sheet import Colours, Plane, Sheet

HUES = (0.93, 0.08, 0.14, 0.36, 0.52, 0.62, 0.78, 0.0)


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("powder")
    light = sheet.blank(linear("0b0a0e"))
    light += np.exp(-(np.square(sheet.x) + np.square(sheet.y - 0.3)) * 0.7) * np.float32(0.02)
    hues = rng.permutation(np.array(HUES))[:5]
    angles = np.sort(rng.uniform(-2.9, -0.25, 5))
    origin = (float(rng.uniform(-0.15, 0.15)), 0.75 * sheet.bottom)
    order = rng.permutation(5)
    for number in order:
        tone = hsv(float(hues[number]), float(rng.uniform(0.8, 0.95)), 0.95)
        light = _plume(sheet, light, int(number), tone, origin, float(angles[number]))
    light = _grains(sheet, light, hues, origin)
    return develop(light, sheet, exposure=1.15, vignette=0.2, glow=0.05)


def _plume(
    sheet: Sheet, light: Colours, number: int, tone: Plane, origin: tuple[float, float], angle: float
) -> Colours:
    """One burst: a warped cone of cloud, lit from above left, thick in the middle, dusty at the rim."""
    rng = sheet.random(f"plume {number}")
    bend_x = fractal(sheet, f"bend x {number}", 1.6, octaves=5, gain=0.55)
    bend_y = fractal(sheet, f"bend y {number}", 1.6, octaves=5, gain=0.55)
    px, py = sheet.x - origin[0] + 0.30 * bend_x, sheet.y - origin[1] + 0.30 * bend_y
    reach = float(rng.uniform(1.0, 1.55)) * sheet.bottom
    along = (px * np.cos(angle) + py * np.sin(angle)) / reach
    aside = (py * np.cos(angle) - px * np.sin(angle)) / reach
    along, aside = along.astype(np.float32), aside.astype(np.float32)
    spread = 0.10 + 0.34 * np.clip(along, 0, 1) ** 0.8
    body = (
        1
        - np.square(aside / spread)
        - np.square(np.clip(along - 0.55, 0, None) / 0.42)
        - np.square(np.clip(0.12 - along, 0, None) / 0.22)
    )
    fine = warp(fractal(sheet, f"billow {number}", 3.2, octaves=8, gain=0.58), sheet, 0.12 * bend_y, 0.12 * bend_x)
    billow = np.abs(fine)
    thick = body + 0.55 * (0.5 - 1.6 * billow) + 0.35 * fine
    speckle = fractal(sheet, f"spray {number}", 40.0, octaves=5, gain=0.95)
    cover = np.clip(smoothstep(-0.75, 0.65, thick + 0.22 * speckle), 0, 1) ** 1.3
    depth = soften(np.clip(thick, -0.5, 1.5), 0.010 * sheet.unit)
    across, down = slope(depth, sheet)
    lit = np.clip(0.66 - 0.022 * across - 0.03 * down, 0.1, 1.5) * (0.75 + 0.5 * smoothstep(0.2, 1.0, thick))
    dust = 1 + 0.16 * fractal(sheet, f"dust {number}", 60.0, octaves=4, gain=1.0)
    shadow = tone * np.array([0.35, 0.22, 0.32], dtype=np.float32)
    colour = mix(shadow[:, None, None], (tone * np.float32(1.15))[:, None, None], np.clip(lit, 0, 1))
    colour = mix(colour, np.ones((3, 1, 1), dtype=np.float32) * np.float32(0.9), smoothstep(1.0, 1.6, lit) * 0.35)
    return mix(light, colour * dust, cover * (0.80 + 0.2 * smoothstep(0.0, 0.5, thick)))


def _grains(sheet: Sheet, light: Colours, hues: Plane, origin: tuple[float, float]) -> Colours:
    """Grains thrown outwards: many specks, some chunks, some blurred by being close to the lens."""
    rng = sheet.random("grains")
    canvas = np.zeros((sheet.height, sheet.width, 3), dtype=np.float32)
    cover = np.zeros((sheet.height, sheet.width), dtype=np.float32)
    unit, shift = sheet.unit, 4
    for size, count in ((0.0022, 5200), (0.0045, 1100), (0.009, 160)):
        count = int(count * sheet.right * sheet.bottom)
        angle, reach = rng.uniform(-3.05, -0.1, count), rng.beta(2.2, 1.6, count) * 2.0 * sheet.bottom
        x = origin[0] + reach * np.cos(angle) * 0.95 + rng.normal(0, 0.08, count)
        y = origin[1] + reach * np.sin(angle) + rng.normal(0, 0.08, count)
        hue, tone = rng.choice(hues, count) + rng.normal(0, 0.012, count), rng.uniform(0.35, 1.0, count)
        radius = size * rng.uniform(0.5, 1.3, count)
        tones = [
            tuple(decode(np.array(colorsys.hsv_to_rgb(h % 1, 0.85, v), dtype=np.float32)).tolist())
            for h, v in zip(hue, tone, strict=True)
        ]
        for k in range(count):
            centre = (int((x[k] + sheet.right) * unit * 16), int((y[k] + sheet.bottom) * unit * 16))
            pixels = radius[k] * unit
            strength = min(1.0, pixels * pixels * 1.6)
            # fully opaque colour under a soft coverage keeps the rims clean
            cv2.circle(
                canvas,
                centre,
                int(max(pixels, 0.8) * 16 + 12),
                tones[k],
                -1,
                cv2.LINE_8,
                shift,
            )
            cv2.circle(cover, centre, int(max(pixels, 0.6) * 16), strength, -1, cv2.LINE_8, shift)
    soft = np.asarray(cv2.GaussianBlur(cover, (0, 0), 0.55), dtype=np.float32)
    return mix(light, np.moveaxis(canvas, 2, 0), soft)
