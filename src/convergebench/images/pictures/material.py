"""What things are made of: wood, clay, cloth, plaster, fruit skin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from convergebench.images.pictures.colour import mix, smoothstep
from convergebench.images.pictures.sheet import Colours, Plane
from convergebench.images.pictures.texture import Texture, clouds, weave
from convergebench.images.pictures.world import Hit, Material, Surface

Mapping = Callable[[Hit], tuple[Plane, Plane]]
"""Where on its texture each point lies."""


def floor_map(hit: Hit) -> tuple[Plane, Plane]:
    """Texture of level things: x and z."""
    return hit.x, hit.z


def back_map(hit: Hit) -> tuple[Plane, Plane]:
    """Texture of things that face the viewer: x and y."""
    return hit.x, hit.y


def side_map(hit: Hit) -> tuple[Plane, Plane]:
    """Texture of things that face sideways: z and y."""
    return hit.z, hit.y


def round_map(centre: tuple[float, float]) -> Mapping:
    """Texture wrapped round an upright thing at (x, z): turns and y."""

    def place(hit: Hit) -> tuple[Plane, Plane]:
        angle = np.arctan2(hit.x - centre[0], hit.z - centre[1]) * np.float32(1 / (2 * np.pi))
        return angle, hit.y

    return place


def fill(colour: Plane, count: int) -> Colours:
    """One colour for every point."""
    return np.broadcast_to(np.asarray(colour, dtype=np.float32)[:, None], (3, count)).copy()


def plain(colour: Plane, *, gloss: float = 0.04, rough: float = 0.5, soft: float = 0.0) -> Material:
    """One colour all over."""
    return lambda hit: Surface(fill(colour, hit.count), gloss=gloss, rough=rough, soft=soft)


def mottled(
    colours: tuple[Plane, Plane],
    pattern: Texture,
    *,
    scale: float = 1.0,
    contrast: float = 1.0,
    gloss: float = 0.04,
    rough: float = 0.5,
    bump: float = 0.0,
    soft: float = 0.0,
    place: Mapping | None = None,
) -> Material:
    """Two colours in clouds, seen from three sides so that it fits any shape; `bump` roughens it."""

    def surface(hit: Hit) -> Surface:
        value, tilt = _solid_texture(pattern, hit, scale, place)
        weight = np.clip(0.5 + value * np.float32(0.5 * contrast), 0.0, 1.0)
        colour = mix(fill(colours[0], 1), fill(colours[1], 1), weight)
        normal = _bumped(hit, tilt, bump) if bump else None
        return Surface(colour, gloss=gloss, rough=rough, bump=normal, soft=soft)

    return surface


def _solid_texture(
    pattern: Texture, hit: Hit, scale: float, place: Mapping | None
) -> tuple[Plane, tuple[Plane, Plane]]:
    """Value and slope of a pattern; without a mapping the sides are blended by where they face."""
    wide = hit.wide * np.float32(scale)
    step = np.float32(1.5 / 512)
    if place is not None:
        u, v = (part * np.float32(scale) for part in place(hit))
        value = pattern(u, v, wide)
        return value, (pattern(u + step, v, wide) - value, pattern(u, v + step, wide) - value)
    value, across, upward = (np.zeros(hit.count, dtype=np.float32) for _ in range(3))
    weights = np.stack([np.square(np.square(n)) for n in hit.normal]) + np.float32(1e-6)
    weights /= weights.sum(axis=0)
    sides = ((hit.z, hit.y), (hit.x, hit.z), (hit.x, hit.y))
    for weight, (u, v) in zip(weights, sides, strict=True):
        index = np.nonzero(weight > 0.02)[0]
        if len(index):
            u, v, w, share = u[index] * np.float32(scale), v[index] * np.float32(scale), wide[index], weight[index]
            here = pattern(u, v, w)
            value[index] += share * here
            across[index] += share * (pattern(u + step, v, w) - here)
            upward[index] += share * (pattern(u, v + step, w) - here)
    return value, (across, upward)


def _bumped(hit: Hit, tilt: tuple[Plane, Plane], amount: float) -> tuple[Plane, Plane, Plane]:
    n = hit.normal
    across, upward = tilt[0] * np.float32(amount), tilt[1] * np.float32(amount)
    return (
        n[0] - across * (1 - np.abs(n[0])),
        n[1] - upward * (1 - np.abs(n[1])),
        n[2] - (across + upward) * np.float32(0.3),
    )


def planks(
    rng: np.random.Generator,
    colours: tuple[Plane, Plane],
    *,
    width: float = 0.3,
    place: Mapping = floor_map,
    turned: bool = False,
    gloss: float = 0.05,
    rough: float = 0.42,
    seam: float = 0.006,
) -> Material:
    """Boards with grain, knots and seams, running along v (or u when turned)."""
    fibre = clouds(rng, knots=(48, 2), octaves=4, gain=0.7)
    bend = clouds(rng, knots=(3, 3), octaves=4)
    shifts = rng.random((97, 3)).astype(np.float32)

    def surface(hit: Hit) -> Surface:
        u, v = place(hit)
        across, along = (v, u) if turned else (u, v)
        board = np.floor(across / np.float32(width))
        shift = shifts[board.astype(np.int64) % 97]
        inside = across - board * np.float32(width)
        a, b = across * np.float32(0.8) + shift[:, 0] * 7, along * np.float32(0.22) + shift[:, 1] * 5
        wave = bend(a * np.float32(0.6), b * np.float32(0.9), hit.wide)
        rings = np.float32(0.5) + np.float32(0.5) * np.sin(
            (a * np.float32(34) + wave * np.float32(9)) * smoothstep(0.06, 0.01, hit.wide)
        )
        grain = fibre(a * np.float32(1.9) + wave * np.float32(0.04), b * 2, hit.wide * np.float32(1.6))
        grain = grain + np.float32(0.5) * fibre(a * np.float32(5.3), b * 5, hit.wide * np.float32(4.2))
        tone = np.clip(0.22 * rings + 0.46 + 0.26 * grain + (shift[:, 2] - 0.5) * np.float32(0.5), 0, 1.15)
        edge = np.minimum(inside, np.float32(width) - inside)
        gap = smoothstep(0.0, 1.0, (edge - np.float32(seam * 0.4)) / (np.float32(seam) + hit.wide))
        colour = mix(fill(colours[0], 1), fill(colours[1], 1), tone) * (0.22 + 0.78 * gap)
        shine = np.float32(gloss) * (0.6 + 0.5 * np.clip(0.5 + grain, 0, 1)) * gap
        return Surface(colour, gloss=shine, rough=np.clip(rough - 0.1 * grain, 0.15, 0.9))

    return surface


def cloth(
    colour: Plane, rng: np.random.Generator, *, place: Mapping | None = None, scale: float = 1.2, soft: float = 0.25
) -> Material:
    """Woven cloth with uneven dye."""
    threads = weave(96)
    dye = clouds(rng, knots=(3, 3), octaves=5)

    def surface(hit: Hit) -> Surface:
        value, tilt = _solid_texture(threads, hit, scale, place)
        uneven = dye(hit.x * np.float32(0.4) + hit.z * np.float32(0.2), hit.y * np.float32(0.4), hit.wide)
        tone = (0.62 + 0.42 * value) * (1 + 0.14 * uneven)
        return Surface(fill(colour, hit.count) * tone, gloss=0.012, rough=0.9, bump=_bumped(hit, tilt, 0.5), soft=soft)

    return surface


def plaster(colour: Plane, rng: np.random.Generator, *, place: Mapping = back_map, uneven: float = 0.06) -> Material:
    """A painted wall: slow stains and a fine roller texture."""
    stains = clouds(rng, knots=(2, 2), octaves=6, gain=0.6)
    roller = clouds(rng, knots=(64, 64), octaves=4, gain=0.8)

    def surface(hit: Hit) -> Surface:
        u, v = place(hit)
        slow = stains(u * np.float32(0.11), v * np.float32(0.11), hit.wide * np.float32(0.11))
        fine = roller(u * np.float32(0.45), v * np.float32(0.45), hit.wide * np.float32(0.45))
        tone = 1 + np.float32(uneven) * (slow + np.float32(0.5) * fine)
        return Surface(fill(colour, hit.count) * tone, gloss=0.02, rough=0.8)

    return surface


def glazed(colour: Plane, rng: np.random.Generator, *, speck: Plane | None = None, rough: float = 0.18) -> Material:
    """Glazed clay: pooled glaze, a few iron specks, a clear shine."""
    pool = clouds(rng, knots=(3, 4), octaves=5)
    dots = clouds(rng, knots=(60, 60), octaves=2, gain=0.9)
    dark = speck if speck is not None else np.asarray(colour) * np.float32(0.3)

    def surface(hit: Hit) -> Surface:
        slow, _ = _solid_texture(pool, hit, 0.35, None)
        fine, _ = _solid_texture(dots, hit, 0.7, None)
        tone = 1 + np.float32(0.14) * slow
        weight = smoothstep(0.75, 1.0, fine)
        return Surface(
            mix(fill(colour, hit.count) * tone, fill(dark, 1), weight * np.float32(0.7)), gloss=0.05, rough=rough
        )

    return surface
