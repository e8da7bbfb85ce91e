"""Sand dunes at twilight: long smooth gradients, fine ripples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import linear, mix, smoothstep, tint
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.sheet import Colours, Plane, Sheet
from convergebench.images.pictures.sky import sky
from convergebench.images.pictures.terrain import Land, View, settle, survey, tilt
from convergebench.images.pictures.texture import Texture, clouds

SANDS = (("c98a5a", "4a3a5c"), ("d0a070", "3f4668"), ("b87a58", "53355a"), ("d8b088", "45507a"))


@dataclass(frozen=True)
class Dunes:
    """Crested hills of sand, lit low from one side (`lean`)."""

    broad: Texture
    crests: Texture
    small: Texture
    grain: Texture
    lean: float
    warm: Plane
    cool: Plane

    @staticmethod
    def drawn(rng: np.random.Generator) -> Dunes:
        """Dunes by chance."""
        broad, crests, small = (clouds(rng, knots=(4, 4), octaves=o, gain=0.35) for o in (2, 2, 3))
        grain = clouds(rng, knots=(128, 128), octaves=3, gain=0.9)
        warm, cool = SANDS[rng.integers(len(SANDS))]
        return Dunes(broad, crests, small, grain, float(rng.choice([-1, 1])), linear(warm), linear(cool))

    def height(self, x: Plane, z: Plane) -> Plane:
        """Height of the sand; level near the viewer."""
        bend = self.broad(x * 0.016 + 0.3, z * 0.016) * np.float32(5)
        crest = 1 - np.abs(self.crests((x + bend) * 0.022, (z + 0.4 * bend) * 0.014)) * np.float32(1.5)
        hills = crest * np.float32(2.3) + self.broad(x * 0.01, z * 0.008 + 0.2) * np.float32(1.6)
        return hills * smoothstep(0.0, 26.0, z) + self.small(x * 0.03, z * 0.03) * np.float32(0.18)

    def paint(self, land: Land) -> Colours:
        """Light on the sand, with ripples of wind near by."""
        _, along, ahead = tilt(self.height, land)
        u, v = land.x + along * 0.6, land.z
        wind = np.sin((v * 10.5 + u * 4 + 2.2 * self.small(u * 0.11, v * 0.11)) * np.float32(2.2))
        ripple = wind * smoothstep(0.05, 0.012, land.wide) * np.float32(0.16)
        speck = self.grain(land.x * 0.8, land.z * 0.8, land.wide * 0.8)
        nx, nz = -along * self.lean + ripple * 0.5 * self.lean, -ahead - ripple
        norm = 1 / np.sqrt(1 + nx * nx + nz * nz)
        lit = smoothstep(0.0, 0.9, np.clip((nx * 0.9 + 0.32 + 0.25 * nz) * norm, 0, 1.4))
        sand = mix(self.cool[:, None, None] * np.float32(0.55), self.warm[:, None, None] * np.float32(1.25), lit)
        return sand * (1 + 0.06 * speck) + tint(linear("8a8cc0"), np.clip(norm - 0.6, 0, 1) * np.float32(0.12))


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("dunes")
    dunes = Dunes.drawn(rng)
    view = View(height=2.5, horizon=float(rng.uniform(-0.2, -0.05)), zoom=1.5, near=1.0, far=160)
    palette = str(rng.choice(["dusk", "rose", "sunset"]))
    above = sky(sheet, palette, horizon=view.horizon + 0.04, sun=None, clouds=float(rng.choice([0.0, 0.15, 0.3])))
    haze = above[:, min(sheet.height - 1, int((view.horizon + sheet.bottom) * sheet.unit)), :][:, None, :]

    def hazy(land: Land) -> Colours:
        return mix(dunes.paint(land), haze, (1 - np.exp(-land.z * np.float32(0.011))) * 0.85)

    light = settle(sheet, survey(sheet, dunes.height, view), hazy, above)
    return develop(light, sheet, exposure=1.0, vignette=0.3)
