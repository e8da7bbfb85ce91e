"""Rice terraces at sunset: water that mirrors the sky, banks that repeat and never quite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, ramp, smoothstep, tint
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.sheet import Colours, Plane, Sheet
from convergebench.images.pictures.sky import PALETTES, sky
from convergebench.images.pictures.terrain import Land, View, settle, survey, tilt
from convergebench.images.pictures.texture import Texture, clouds

VIEW = View(height=5.6, horizon=-0.52, zoom=1.7, near=3.0, far=150)


@dataclass(frozen=True)
class Terraces:
    """A hillside cut into steps of equal rise, under one sky. `sun` is its x on the sheet."""

    hills: Texture
    bends: Texture
    tufts: Texture
    rise: float
    palette: str
    sun: float

    @staticmethod
    def drawn(rng: np.random.Generator) -> Terraces:
        """Terraces by chance."""
        return Terraces(
            clouds(rng, knots=(4, 4), octaves=3, gain=0.4),
            clouds(rng, knots=(5, 5), octaves=3, gain=0.5),
            clouds(rng, knots=(64, 64), octaves=3, gain=0.9),
            float(rng.uniform(0.42, 0.55)),
            str(rng.choice(["sunset", "gold", "rose"])),
            float(rng.uniform(-0.6, 0.6)),
        )

    def level(self, x: Plane, z: Plane) -> Plane:
        """Height of the uncut hill, counted in steps."""
        hill = self.hills(x * 0.011 + 0.1, z * 0.011) * np.float32(5.2)
        hill = hill + self.bends(x * 0.03, z * 0.03) * np.float32(0.9)
        return (hill + np.float32(0.055) * np.maximum(z - 10, 0) - np.float32(1.2)) / np.float32(self.rise)

    def height(self, x: Plane, z: Plane) -> Plane:
        """Height of the steps: flat, a low dyke at the lip, a bank to the next."""
        level = self.level(x, z)
        step = np.floor(level)
        inside = level - step
        dyke = 0.10 * np.exp(-np.square((inside - 0.05) / 0.035))
        found: Plane = (step + smoothstep(0.86, 0.97, inside) + dyke) * np.float32(self.rise)
        return found

    def paint(self, land: Land, bottom: float) -> Colours:
        """Water, seedlings and banks, paling into the evening haze."""
        level = self.level(land.x, land.z)
        step = np.floor(level)
        inside = level - step
        number = np.mod(np.sin(step * 12.9898) * 43758.547, 1.0)
        water = smoothstep(0.11, 0.14, inside) * smoothstep(0.88, 0.86, inside)
        rows = smoothstep(0.25, 0.7, np.sin(inside * 46 + number * 6))
        rows = rows * smoothstep(0.2, 0.6, np.sin(self.bends(land.x * 0.3, land.z * 0.3) * 4 + land.x * 9))
        planted = (number > 0.45) * rows * smoothstep(0.10, 0.02, land.wide)
        banks = self._banks(land, level)
        surface = mix(banks, self._mirror(land, number, bottom), np.clip(water - 0.75 * planted, 0, 1))
        reflected = smoothstep(0.89, 0.80, inside) * smoothstep(0.62, 0.8, inside)
        surface = mix(surface, banks * np.float32(0.55), reflected * water * 0.6)
        air = 1 - np.exp(-land.z * np.float32(0.012))
        return mix(surface, self._warm * np.float32(0.75), air * 0.8)

    @property
    def _warm(self) -> Plane:
        return linear(PALETTES[self.palette][0][0])[:, None, None]

    def _mirror(self, land: Land, number: Plane, bottom: float) -> Colours:
        """The sky in the water, a little different in every field."""
        dip = (land.rows - VIEW.horizon) / (bottom - VIEW.horizon)
        stops = [(i / 3, linear(code)) for i, code in enumerate(PALETTES[self.palette][0])]
        mirror = ramp(np.clip(dip * 1.05 + 0.10 * (number - 0.5), 0, 1), stops)
        cloud = self.bends(land.x * 0.05 + 7, land.z * 0.013 + number * 0.3, land.wide * 0.05)
        glint = np.exp(-np.square((land.x / land.z * VIEW.zoom - self.sun) / 0.22))
        gleam = tint(linear(PALETTES[self.palette][1]), glint * (0.35 + 0.3 * cloud) * (1 - 0.6 * dip))
        return mirror * (1 + 0.35 * cloud) + gleam

    def _banks(self, land: Land, level: Plane) -> Colours:
        """Grass on the banks, lit by the low sun."""
        _, along, ahead = tilt(self.height, land)
        tuft = self.tufts(land.x * 0.35, land.z * 0.35 + level * 0.3, land.wide * 0.35)
        dark, pale = hsv(0.24, 0.62, 0.20)[:, None, None], hsv(0.19, 0.6, 0.46)[:, None, None]
        norm = 1 / np.sqrt(1 + along * along + ahead * ahead)
        side = 0.5 if self.sun > 0 else -0.5
        lit = np.clip(0.55 + 0.6 * (along * side + 0.35) * norm, 0.15, 1.4)
        return mix(dark, pale, np.clip(0.45 + 0.5 * tuft, 0, 1)) * lit * (0.6 + 0.9 * self._warm)


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    fields = Terraces.drawn(sheet.random("terraces"))
    above = sky(sheet, fields.palette, horizon=VIEW.horizon, sun=(fields.sun, VIEW.horizon - 0.1), clouds=0.55)
    land = survey(sheet, fields.height, VIEW)
    light = settle(sheet, land, lambda part: fields.paint(part, sheet.bottom), above)
    return develop(light, sheet, exposure=0.95, vignette=0.3)
