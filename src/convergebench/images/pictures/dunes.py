"""Sand dunes at twilight: long smooth gradients, fine ripples."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import linear, mix, smoothstep, tint
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.sheet import Plane, Sheet
from convergebench.images.pictures.sky import sky
from convergebench.images.pictures.terrain import FINE, View, settle, survey, tilt
from convergebench.images.pictures.texture import clouds

SANDS = (("c98a5a", "4a3a5c"), ("d0a070", "3f4668"), ("b87a58", "53355a"), ("d8b088", "45507a"))


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("dunes")
    broad, middle, small = (clouds(rng, knots=(4, 4), octaves=o, gain=0.35) for o in (2, 2, 3))
    grain = clouds(rng, knots=(128, 128), octaves=3, gain=0.9)
    lean = float(rng.choice([-1, 1]))

    def height(x: Plane, z: Plane) -> Plane:
        bend = broad(x * 0.016 + 0.3, z * 0.016) * np.float32(5)
        crest = 1 - np.abs(middle((x + bend) * 0.022, (z + 0.4 * bend) * 0.014)) * np.float32(1.5)
        soft = broad(x * 0.01, z * 0.008 + 0.2)
        return (crest * np.float32(2.3) + soft * np.float32(1.6)) * smoothstep(0.0, 26.0, z) + small(
            x * 0.03, z * 0.03
        ) * np.float32(0.18)

    view = View(height=2.5, horizon=float(rng.uniform(-0.2, -0.05)), zoom=1.5, near=1.0, far=160)
    land = survey(sheet, height, view)
    _, along, ahead = tilt(height, land)
    u, v = land.x + along * 0.6, land.z
    wind = np.sin((v * 10.5 + u * 4 + 2.2 * small(u * 0.11, v * 0.11)) * np.float32(2.2))
    ripple = wind * smoothstep(0.05, 0.012, land.wide) * np.float32(0.16)
    speck = grain(land.x * 0.8, land.z * 0.8, land.wide * 0.8)
    nx, nz = -along * lean + ripple * 0.5 * lean, -ahead - ripple
    norm = 1 / np.sqrt(1 + nx * nx + nz * nz)
    lit = np.clip((nx * 0.9 + 0.32 + 0.25 * nz) * norm, 0, 1.4)
    code = SANDS[rng.integers(len(SANDS))]
    warm, cool = linear(code[0]), linear(code[1])
    sand = mix(
        cool[:, None, None] * np.float32(0.55), warm[:, None, None] * np.float32(1.25), smoothstep(0.0, 0.9, lit)
    )
    sand = sand * (1 + 0.06 * speck) + tint(linear("8a8cc0"), np.clip(norm - 0.6, 0, 1) * np.float32(0.12))
    palette = str(rng.choice(["dusk", "rose", "sunset"]))
    above = sky(sheet, palette, horizon=view.horizon + 0.04, sun=None, clouds=float(rng.choice([0.0, 0.15, 0.3])))
    air = 1 - np.exp(-land.z * np.float32(0.011))
    haze = above[:, min(sheet.height - 1, int((view.horizon + sheet.bottom) * sheet.unit)), :][:, None, :]
    sand = mix(sand, haze, air * 0.85)
    fine_sky = np.repeat(above, FINE, axis=1)
    light = settle(mix(sand, fine_sky, land.sky), sheet)
    return develop(light, sheet, exposure=1.0, vignette=0.3)
