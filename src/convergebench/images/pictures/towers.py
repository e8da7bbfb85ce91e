"""Buildings: a skyscraper seen from its foot, and a street."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, ramp, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.material import fill, plaster
from convergebench.images.pictures.sheet import Colours, Plane, Sheet
from convergebench.images.pictures.sky import PALETTES
from convergebench.images.pictures.solid import box
from convergebench.images.pictures.stage import Surroundings
from convergebench.images.pictures.texture import clouds
from convergebench.images.pictures.world import Hit, Lamp, Solid, Surface, Vector, Wall, World


def open_sky(
    palette: str, rng: np.random.Generator, towards: tuple[float, float, float], *, cover: float = 0.5
) -> Surroundings:
    """A sky by direction, with clouds, for eyes and mirrors."""
    stops = [(i / 3, linear(code)) for i, code in enumerate(PALETTES[palette][0])]
    stops.insert(0, (-1.0, linear("6a655e")))
    field = clouds(rng, knots=(4, 4), octaves=7, gain=0.55)
    sun = np.array(towards) / np.linalg.norm(towards)
    warm = linear(PALETTES[palette][1])

    def seen(direction: Vector, rough: Plane | float) -> Colours:
        up = direction[1]
        light = ramp(np.clip(up, -1, 1), stops)
        flat = 0.22 / np.maximum(up + 0.12, 0.05)
        value = field(
            direction[0] * flat + 0.3,
            direction[2] * flat,
            np.float32(0.002) + np.asarray(rough, dtype=np.float32) * 0.1,
        )
        light = mix(
            light,
            fill(np.array([0.95, 0.95, 0.97]), 1),
            smoothstep(0.4 - 0.8 * cover, 0.95, value) * smoothstep(0.02, 0.25, up) * 0.8,
        )
        ahead = np.clip(direction[0] * sun[0] + direction[1] * sun[1] + direction[2] * sun[2], 0, 1)
        found: Plane = light + fill(warm, 1) * (0.5 * ahead**24 + 0.25 * ahead**6)
        return found

    return seen


def skyscraper(sheet: Sheet) -> Pixels:
    """A glass tower from below, others behind it in the haze."""
    rng = sheet.random("skyscraper")
    palette = str(rng.choice(["noon", "noon", "gold", "rose"]))
    towards = (
        float(rng.choice([-1, 1]) * rng.uniform(0.4, 0.9)),
        float(rng.uniform(0.5, 0.9)),
        float(rng.uniform(0.3, 0.8)),
    )
    solids = []
    spots = [(0.1, -9.0, 1.9, 13.0)] + [
        (float(x), float(z), float(rng.uniform(1.4, 2.4)), float(rng.uniform(6, 12)))
        for x, z in ((-7.5, -15), (7.0, -13), (-4.6, -24), (5.0, -27), (12.0, -26), (-13, -28), (0.8, -38))
    ]
    for number, (x, z, half, tall) in enumerate(spots):
        turned = float(rng.uniform(0.35, 0.6)) * (1 if number % 2 else -1)
        solids.append(_tower(rng, (x, z), half, tall, turned, palette))
    haze = linear(PALETTES[palette][0][0])
    world = World(
        solids=solids,
        walls=[Wall((0, 1, 0), -0.5, plaster(linear("8a857c"), rng))],
        lamps=[Lamp(linear(PALETTES[palette][1]) * np.float32(1.9), towards=towards, soft=0.05)],
        sky=np.array([0.42, 0.48, 0.56], dtype=np.float32),
        earth=np.array([0.24, 0.23, 0.22], dtype=np.float32),
        surroundings=open_sky(palette, rng, towards, cover=0.4),
        haze=(haze * np.float32(0.85), 0.008),
        hollow=0.6,
    )
    camera = Camera(eye=(0.0, 1.0, 5.0), target=(0.0, 6.2 * min(1.5, sheet.bottom), -9.0), zoom=1.75)
    return develop(paint(sheet, world, camera), sheet, exposure=0.85, vignette=0.25)


def _tower(
    rng: np.random.Generator, at: tuple[float, float], half: float, tall: float, turned: float, palette: str
) -> Solid:
    """A tower whose curtain wall repeats exactly: mullions, spandrels, panes that mirror the sky."""
    c, s = float(np.cos(turned)), float(np.sin(turned))
    frame = hsv(rng.uniform(0.05, 0.65), rng.uniform(0.02, 0.12), rng.uniform(0.3, 0.62))
    glass = hsv(rng.uniform(0.52, 0.62), rng.uniform(0.45, 0.7), rng.uniform(0.16, 0.34))
    floors, bays = 0.34, half * 2 / round(half * 2 / 0.27)
    blinds = rng.random((64, 64)).astype(np.float32)

    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        px, pz = (x - at[0]) * c + (z - at[1]) * s, (z - at[1]) * c - (x - at[0]) * s
        body = box(px, y, pz, at=(0, tall / 2 - 0.5, 0), half=(half, tall / 2 + 0.5, half), round=0.01)
        crown = box(px, y, pz, at=(0, tall + 0.25, 0), half=(half * 0.7, 0.35, half * 0.7), round=0.01)
        return np.minimum(body, crown)

    def surface(hit: Hit) -> Surface:
        px, pz = (hit.x - at[0]) * c + (hit.z - at[1]) * s, (hit.z - at[1]) * c - (hit.x - at[0]) * s
        nx = np.abs(hit.normal[0] * c + hit.normal[2] * s)
        u = np.where(nx > 0.5, pz, px) + half
        soft = np.maximum(hit.wide * 1.2, 0.003)
        column, row = np.floor(u / bays), np.floor(hit.y / floors)
        fu, fy = np.mod(u, bays), np.mod(hit.y, floors)
        mullion = _line(np.minimum(fu, bays - fu), 0.016, soft) + 0.6 * _line(np.abs(fu - bays / 2), 0.006, soft)
        slab = _line(np.minimum(fy, floors - fy), 0.035, soft)
        tone = blinds[row.astype(np.int64) % 64, column.astype(np.int64) % 64]
        inside = fill(glass, hit.count) * (0.7 + 0.9 * tone)
        blind = (tone > 0.82) * smoothstep(0.0, 0.02, fy - floors * (1.6 - tone))
        inside = mix(inside, fill(linear("b9b2a2"), 1), blind * 0.5)
        grid = np.clip(mullion + slab, 0, 1)
        colour = mix(inside, fill(frame, 1), grid)
        roof = hit.normal[1] > 0.5
        tilt = (tone - 0.5) * np.float32(0.05)
        n = hit.normal
        return Surface(
            colour,
            gloss=(0.24 * (1 - grid)) * ~roof + 0.02,
            rough=0.04 + 0.6 * grid,
            bump=(n[0] + tilt, n[1] + tilt * 0.6, n[2] - tilt),
        )

    return Solid(distance, (at[0], tall / 2, at[1]), float(np.hypot(tall / 2 + 0.8, half * 1.45)), surface)


def _line(distance: Plane, half: float, soft: Plane) -> Plane:
    """A line's coverage by a pixel `soft` wide, so that far grids fade to grey instead of shimmering."""
    found: Plane = np.clip((half - distance) / soft + 0.5, 0, 1) * np.minimum(1.0, 2 * half / soft) ** 0.5
    return found
