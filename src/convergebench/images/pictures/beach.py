"""A beach: surf, wet sand that mirrors the sky, clouds."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import linear, mix, smoothstep, tint
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.noise import fractal
from convergebench.images.pictures.sheet import Colours, Plane, Sheet
from convergebench.images.pictures.sky import PALETTES, sky
from convergebench.images.pictures.texture import clouds


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("beach")
    horizon = float(rng.uniform(-0.28, -0.08))
    palette = str(rng.choice(["noon", "gold", "sunset", "rose"]))
    sun = (float(rng.uniform(-0.8, 0.8)), horizon - float(rng.uniform(0.15, 0.4))) if palette != "noon" else None
    light = sky(sheet, palette, horizon=horizon, sun=sun, clouds=float(rng.uniform(0.35, 0.65)))
    mirrored = light[:, ::-1, :]
    dip = np.maximum(sheet.y - horizon, 1e-3)
    z = 0.55 / dip + sheet.plane()
    x = sheet.x * z
    shore = 1.05 + 0.16 * np.sin(x * 0.9 + rng.uniform(0, 6)) + float(rng.choice([-1, 1])) * 0.22 * x
    ground = _sand(sheet, rng, x, z, mirrored, shore, linear(PALETTES[palette][0][0]))
    water = _sea(sheet, rng, x, z, shore, light, horizon, linear(PALETTES[palette][1]), sun)
    edge = z - shore + 0.05 * fractal(sheet, "lap", 4.0, octaves=6, gain=0.55)
    scene = mix(ground, water, smoothstep(-0.006, 0.006, edge))
    light = mix(light, scene, smoothstep(-0.6, 0.6, (sheet.y - horizon) * sheet.unit) + sheet.plane())
    return develop(light, sheet, exposure=0.95, vignette=0.25)


def _sea(
    sheet: Sheet,
    rng: np.random.Generator,
    x: Plane,
    z: Plane,
    shore: Plane,
    above: Colours,
    horizon: float,
    warm: Plane,
    sun: tuple[float, float] | None,
) -> Colours:
    """Open water with rolling waves and lines of foam."""
    chop, lace = clouds(rng, knots=(6, 10), octaves=6, gain=0.62), clouds(rng, knots=(8, 8), octaves=6, gain=0.65)
    wide = z * np.float32(sheet.pixel * 2) * z
    out = np.maximum(z - shore, 0.0)
    swell = chop(x * 0.16, z * 0.55, wide * 0.35)
    deep, shallow = (
        linear(("0f4a5c", "1a5a6a", "16404f")[rng.integers(3)]),
        linear(("4aa3a0", "6fb0a4", "3f8f98")[rng.integers(3)]),
    )
    body = mix(shallow[:, None, None], deep[:, None, None], smoothstep(0.0, 2.2, out))
    top = above[:, 0, :].mean(axis=1)
    near = above[:, max(1, int((horizon + sheet.bottom) * sheet.unit) - 2), :][:, None, :]
    slope = np.clip(0.5 + 0.75 * swell, 0, 1)
    body = mix(body, mix(near, top[:, None, None], slope), 0.34 + 0.30 * smoothstep(1.0, 9.0, z) - 0.18 * slope)
    body = body * (0.86 + 0.3 * swell)
    foam = np.zeros_like(z)
    for number in range(4):
        line = (
            shore
            + (0.10, 0.55, 1.25, 2.5)[number]
            + 0.10 * np.sin(x * (1.1 - 0.15 * number) + rng.uniform(0, 6))
            + 0.05 * swell
        )
        away = (z - line) / (0.05 + 0.05 * number)
        ragged = lace(x * 0.35, z * 0.9 + number, wide * 0.4)
        crest = np.exp(-np.square(away)) * smoothstep(-0.5, 0.35, ragged + 0.3 - 0.18 * number)
        trail = (
            np.exp(-np.clip(-away, 0, 9) * 0.35)
            * (away < 0)
            * smoothstep(0.05, 0.35, np.abs(ragged) * -1 + 0.28)
            * (0.75 - 0.15 * number)
        )
        foam = np.maximum(foam, np.clip(crest + trail, 0, 1))
        body = body * (1 - 0.30 * np.exp(-np.square((away - 1.6) / 0.9)))
    lap = np.exp(-out / 0.05) * smoothstep(-0.6, 0.2, lace(x * 0.6, z * 0.6, wide))
    body = mix(
        body, np.array([0.92, 0.94, 0.95], dtype=np.float32)[:, None, None], np.clip(np.maximum(foam, lap), 0, 1) * 0.92
    )
    if sun is not None:
        glint = np.exp(-np.square((sheet.x - sun[0]) / (0.10 + 0.25 * np.maximum(sheet.y - horizon, 0)))) * smoothstep(
            0.0, 0.5, swell
        )
        body = body + tint(warm, glint * np.float32(1.3))
    return body


def _sand(
    sheet: Sheet, rng: np.random.Generator, x: Plane, z: Plane, mirrored: Colours, shore: Plane, haze: Plane
) -> Colours:
    """Dry sand with footfalls of wind, wet sand that reflects."""
    grain, drift = clouds(rng, knots=(128, 128), octaves=3, gain=0.9), clouds(rng, knots=(5, 5), octaves=6, gain=0.55)
    wide = z * np.float32(sheet.pixel * 2) * z
    fine, slow = grain(x * 1.1, z * 1.1, wide * 1.1), drift(x * 0.5, z * 0.8, wide * 0.5)
    dry, damp = linear(("d9c09a", "e0cdb0", "c9a884")[rng.integers(3)]), linear("7a6248")
    sand: Colours = dry[:, None, None] * (0.86 + 0.10 * slow + 0.13 * fine + 0.05 * np.sin(z * 60 + 5 * slow))
    wet = smoothstep(0.42, 0.06, shore - z + 0.10 * slow)
    soaked = mix(damp[:, None, None] * (0.85 + 0.1 * fine), mirrored * np.float32(0.8), 0.55 + 0.1 * slow)
    sand = mix(sand, soaked, wet)
    shells = smoothstep(0.93, 0.99, grain(x * 0.21 + 3, z * 0.21, wide * 0.2) * 0.5 + 0.5)
    return mix(sand, np.array([0.85, 0.8, 0.74], dtype=np.float32)[:, None, None], shells * (1 - wet) * 0.8)
