"""Rice terraces at sunset: water that mirrors the sky, banks that repeat and never quite."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, ramp, smoothstep, tint
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.sheet import Plane, Sheet
from convergebench.images.pictures.sky import PALETTES, sky
from convergebench.images.pictures.terrain import FINE, View, settle, survey, tilt
from convergebench.images.pictures.texture import clouds


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("terraces")
    hills, bends, tufts = (
        clouds(rng, knots=(4, 4), octaves=3, gain=0.4),
        clouds(rng, knots=(5, 5), octaves=3, gain=0.5),
        clouds(rng, knots=(64, 64), octaves=3, gain=0.9),
    )
    rise = float(rng.uniform(0.42, 0.55))

    def slope(x: Plane, z: Plane) -> Plane:
        return (
            hills(x * 0.011 + 0.1, z * 0.011) * np.float32(5.2)
            + bends(x * 0.03, z * 0.03) * np.float32(0.9)
            + np.float32(0.055) * np.maximum(z - 10, 0)
            - np.float32(1.2)
        )

    def height(x: Plane, z: Plane) -> Plane:
        level = slope(x, z) / np.float32(rise)
        step = np.floor(level)
        inside = level - step
        bank = smoothstep(0.86, 0.97, inside)
        found: Plane = (step + bank + 0.10 * np.exp(-np.square((inside - 0.05) / 0.035))) * np.float32(rise)
        return found

    palette = str(rng.choice(["sunset", "gold", "rose"]))
    view = View(height=5.6, horizon=-0.52, zoom=1.7, near=3.0, far=150)
    land = survey(sheet, height, view)
    _, along, ahead = tilt(height, land)
    level = slope(land.x, land.z) / np.float32(rise)
    step, inside = np.floor(level), level - np.floor(level)
    water = smoothstep(0.11, 0.14, inside) * smoothstep(0.88, 0.86, inside)
    number = np.mod(np.sin(step * 12.9898) * 43758.547, 1.0)
    sun = (float(rng.uniform(-0.6, 0.6)), view.horizon - 0.1)
    above = sky(sheet, palette, horizon=view.horizon, sun=sun, clouds=0.55)
    dip = (land.rows - view.horizon) / (sheet.bottom - view.horizon)
    codes = PALETTES[palette][0]
    mirror = ramp(
        np.clip(dip * 1.05 + 0.10 * (number - 0.5) + 0 * land.x, 0, 1),
        [(i / 3, linear(c)) for i, c in enumerate(codes)],
    )
    cloud = bends(land.x * 0.05 + 7, land.z * 0.013 + number * 0.3, land.wide * 0.05)
    mirror = mirror * (1 + 0.35 * cloud)
    glint = np.exp(-np.square((land.x / land.z * view.zoom - sun[0]) / 0.22))
    mirror = mirror + tint(linear(PALETTES[palette][1]), glint * (0.35 + 0.3 * cloud) * (1 - 0.6 * dip))
    rows = smoothstep(0.25, 0.7, np.sin(inside * 46 + number * 6)) * smoothstep(
        0.2, 0.6, np.sin(bends(land.x * 0.3, land.z * 0.3) * 4 + land.x * 9)
    )
    planted = (number > 0.45) * rows * smoothstep(0.10, 0.02, land.wide)
    tuft = tufts(land.x * 0.35, land.z * 0.35 + level * 0.3, land.wide * 0.35)
    green = mix(
        hsv(0.24, 0.62, 0.20)[:, None, None], hsv(0.19, 0.6, 0.46)[:, None, None], np.clip(0.45 + 0.5 * tuft, 0, 1)
    )
    norm = 1 / np.sqrt(1 + along * along + ahead * ahead)
    lit = np.clip(0.55 + 0.6 * (-along * np.sign(sun[0]) * -0.5 + 0.35) * norm, 0.15, 1.4)
    warm = linear(codes[0])[:, None, None]
    banks = green * lit * (0.6 + 0.9 * warm)
    surface = mix(banks, mirror, np.clip(water - 0.75 * planted, 0, 1))
    reflected = smoothstep(0.89, 0.80, inside) * smoothstep(0.62, 0.8, inside)
    surface = mix(surface, banks * np.float32(0.55), reflected * water * 0.6)
    air = 1 - np.exp(-land.z * np.float32(0.012))
    surface = mix(surface, warm * np.float32(0.75), air * 0.8)
    light = settle(mix(surface, np.repeat(above, FINE, axis=1), land.sky), sheet)
    return develop(light, sheet, exposure=0.95, vignette=0.3)
