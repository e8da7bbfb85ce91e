"""Clothes for a portrait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from convergebench.images.pictures.colour import hsv, linear, mix, smoothstep
from convergebench.images.pictures.head import torso
from convergebench.images.pictures.material import fill
from convergebench.images.pictures.sheet import Plane
from convergebench.images.pictures.solid import carve, ellipsoid, join, length2
from convergebench.images.pictures.texture import Texture, clouds, weave
from convergebench.images.pictures.world import Hit, Surface

Cut = Literal["tee", "roll-neck", "jacket", "knit"]
CUTS: tuple[Cut, ...] = ("tee", "roll-neck", "jacket", "knit")


@dataclass(frozen=True)
class Garment:
    """One piece of clothing."""

    cut: Cut
    colour: Plane
    second: Plane
    folds: Texture
    threads: Texture

    @staticmethod
    def drawn(rng: np.random.Generator) -> Garment:
        """Clothes by chance."""
        cut = CUTS[rng.integers(len(CUTS))]
        colour = hsv(rng.random(), rng.uniform(0.25, 0.65), rng.uniform(0.3, 0.7))
        second = (linear("e6e2da"), linear("c9d3dc"), linear("2a2c33"))[rng.integers(3)]
        return Garment(cut, colour, second, clouds(rng, knots=(3, 2), octaves=4, gain=0.45), weave(64))

    def distance(self, x: Plane, y: Plane, z: Plane) -> Plane:
        """The cloth's volume, with an opening for the neck."""
        a = np.abs(x)
        fold = self.folds(x * 0.22 + 0.1 * y, y * 0.14) * np.float32(0.035) * smoothstep(-2.2, -2.9, y)
        body: Plane = torso(a, x, y, z, thick=0.12) - fold
        if self.cut == "roll-neck":
            ring = (
                length2(length2(x, z + 0.43 + 0.1 * (y + 1.6)) - 0.56, np.maximum(np.abs(y + 1.86) - 0.36, 0)) - 0.085
            )
            return join(body - 0.03, ring, 0.2)
        if self.cut == "jacket":
            deep = (y + 2.0) * np.float32(-0.42)
            hole = np.maximum(a - np.clip(0.62 - deep, 0.0, 0.62), -0.2 - z)
            inner: Plane = torso(a, x, y, z, thick=0.085)
            inner = carve(inner, ellipsoid(x, y, z, at=(0, -1.72, -0.1), radii=(0.62, 0.62, 0.8)), 0.04)
            return np.minimum(carve(body - 0.02, hole, 0.03), inner)
        opening = ellipsoid(x, y, z, at=(0, -1.66, -0.15), radii=(0.74, 0.66, 0.95))
        return carve(body, opening, 0.05)

    def surface(self, hit: Hit, place: tuple[Plane, Plane, Plane]) -> Surface:
        """Cloth with threads, ribs or lapels."""
        x, y, z = place
        a = np.abs(x)
        scale = np.float32(1.0 if self.cut == "knit" else 2.6)
        u, v = (x + 0.3 * z) * scale * 0.35, (y + 0.2 * z) * scale * 0.35
        thread = self.threads(u, v, hit.wide * scale)
        tone = 0.62 + 0.45 * thread
        uneven = 1 + 0.08 * self.folds(x * 0.5, y * 0.5, hit.wide)
        colour = fill(self.colour, hit.count) * (tone * uneven)
        n = hit.normal
        step = np.float32(1.5 / 512)
        tilt = np.float32(0.9 if self.cut == "knit" else 0.35)
        bump = (
            n[0] - tilt * (self.threads(u + step, v, hit.wide * scale) - thread),
            n[1] - tilt * (self.threads(u, v + step, hit.wide * scale) - thread),
            n[2],
        )
        if self.cut == "jacket":
            edge = np.clip(0.62 + (y + 2.0) * 0.42, 0.0, 0.62)
            shirt = smoothstep(0.015, -0.015, a - edge)
            colour = mix(colour, fill(self.second, 1) * (0.85 + 0.15 * thread), shirt)
            lapel = np.exp(-np.square((a - edge - 0.34 - 0.1 * np.sin(y * 3)) / 0.012)) * smoothstep(-1.9, -2.1, y)
            colour = colour * (1 - 0.45 * lapel * (1 - shirt))
            button = length2(x, np.mod(y + 0.1, 0.36) - 0.18)
            colour = mix(colour, fill(np.array([0.5, 0.48, 0.44]), 1), smoothstep(0.03, 0.022, button) * shirt)
        if self.cut in ("tee", "knit"):
            rim = length2(x / 0.74, (y + 1.66) / 0.66)
            band = np.exp(-np.square((rim - 1.2) / 0.018))
            colour = colour * (1 - 0.3 * band)
        return Surface(colour, gloss=0.01, rough=0.9, soft=0.3, bump=bump)
