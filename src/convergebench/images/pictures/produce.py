"""Things for a table: fruit, bottles, bowls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from convergebench.images.pictures.colour import hsv, linear, mix, smoothstep
from convergebench.images.pictures.material import fill, mottled
from convergebench.images.pictures.sheet import Plane
from convergebench.images.pictures.solid import capsule, ellipsoid, join, lathe, length2, rounded, sphere, turn
from convergebench.images.pictures.texture import clouds
from convergebench.images.pictures.world import Hit, Material, Solid, Surface

Place = tuple[float, float, float]


def bowl(material: Material, *, at: tuple[float, float], radius: float, height: float) -> Solid:
    """A turned bowl standing at (x, z)."""
    turns = np.linspace(0, 1, 14)
    profile = np.array(
        [(0.0, 0.03), (radius * 0.45, 0.03)]
        + [(radius * (0.45 + 0.55 * t**0.62), 0.03 + (height - 0.03) * t**1.7) for t in turns[1:]],
        dtype=np.float32,
    )

    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        return lathe(x - at[0], y, z - at[1], profile=profile, wall=0.024)

    return Solid(distance, (at[0], height / 2, at[1]), float(np.hypot(radius, height / 2)) + 0.04, material)


def bottle(rng: np.random.Generator, *, at: tuple[float, float], height: float) -> Solid:
    """A glass bottle with a paper label."""
    body = 0.19 * height / 1.4 * rng.uniform(0.9, 1.15)
    neck, shoulder = body * 0.33, height * rng.uniform(0.58, 0.66)
    profile = np.array(
        [
            (0, 0.02),
            (body * 0.96, 0.02),
            (body, 0.06),
            (body, shoulder),
            (body * 0.86, shoulder + 0.09),
            (neck * 1.25, shoulder + 0.2),
            (neck, shoulder + 0.27),
            (neck, height - 0.08),
            (neck * 1.15, height - 0.07),
            (neck * 1.15, height),
            (0, height),
        ],
        dtype=np.float32,
    )
    profile = rounded(profile, passes=2)
    glass = (linear("1c3a1e"), linear("3a2a12"), linear("14303a"))[rng.integers(3)]
    paper, ink = linear("d9cfb4"), hsv(rng.random(), 0.7, 0.35)
    fibre = clouds(rng, knots=(16, 16), octaves=4)

    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        shell = lathe(x - at[0], y, z - at[1], profile=profile, wall=0.012)
        inside = np.maximum(length2(x - at[0], z - at[1]) - body, np.abs(y - shoulder * 0.5) - shoulder * 0.5)
        found: Plane = np.minimum(shell, inside)
        return found

    def surface(hit: Hit) -> Surface:
        turned = np.arctan2(hit.x - at[0], hit.z - at[1])
        label = smoothstep(0.0, 0.01, 0.22 * height - np.abs(hit.y - shoulder * 0.5)) * smoothstep(
            0.0, 0.02, 1.25 - np.abs(turned)
        )
        rule = smoothstep(0.004, 0.0, np.abs(np.abs(hit.y - shoulder * 0.5) - 0.19 * height) - 0.006)
        badge = smoothstep(0.008, 0.0, np.abs(length2(turned * body, hit.y - shoulder * 0.55) - 0.11) - 0.012)
        words = smoothstep(0.3, 0.55, np.sin(hit.y * 120)) * smoothstep(
            0.0, 0.3, np.sin(turned * 37 + np.floor(hit.y * 19) * 4) + 0.5
        )
        words = (
            words
            * smoothstep(0.0, 0.02, 0.05 - np.abs(hit.y - shoulder * 0.3))
            * smoothstep(0.0, 0.1, 0.8 - np.abs(turned))
        )
        print_ = np.clip(rule + badge + words, 0, 1)
        stain = 1 + 0.08 * fibre(turned * 0.4, hit.y, hit.wide)
        thin = smoothstep(0.25, 0.95, np.abs(hit.normal[0] * hit.view[0] + hit.normal[2] * hit.view[2]))
        glassy = mix(fill(glass * np.float32(0.25), 1), fill(glass, 1), 1 - thin)
        colour = mix(glassy, mix(fill(paper, 1), fill(ink, 1), print_) * stain, label)
        return Surface(colour, gloss=0.09 - 0.07 * label, rough=0.06 + 0.7 * label)

    reach = float(np.hypot(body, height / 2)) + 0.03
    return Solid(distance, (at[0], height / 2, at[1]), reach, surface)


def fruit(kind: str, rng: np.random.Generator, *, at: Place) -> Solid:
    """An apple, orange, lemon, pear or plum resting at a point."""
    return _FRUIT[kind](rng, at)


def _stemmed(body: Plane, x: Plane, y: Plane, z: Plane, top: float, lean: float) -> Plane:
    stem = capsule(x, y, z, start=(0, top - 0.06, 0), end=(lean, top + 0.11, 0.02), radii=(0.011, 0.016))
    return np.minimum(body, stem)


def _apple(rng: np.random.Generator, at: Place) -> Solid:
    size, lean, angle = rng.uniform(0.2, 0.235), rng.uniform(-0.05, 0.05), rng.uniform(-0.35, 0.35)
    red, green = hsv(rng.uniform(-0.02, 0.03), 0.85, 0.62), hsv(rng.uniform(0.12, 0.22), 0.62, 0.72)
    streak = clouds(rng, knots=(40, 3), octaves=3, gain=0.7)
    blush = clouds(rng, knots=(3, 3), octaves=3)
    cover = rng.uniform(-0.35, 0.5)

    def local(x: Plane, y: Plane, z: Plane) -> tuple[Plane, Plane, Plane]:
        x, y, z = x - at[0], y - at[1] - size * 0.92, z - at[2]
        x, y = turn(x, y, angle)
        return x, y, z

    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        x, y, z = local(x, y, z)
        r = length2(x, z)
        body = length2(r - size * 0.30, y * 0.94 - r * 0.12) - size * (0.72 + 0.10 * np.clip(y / size, -1, 1))
        body = join(body, np.maximum(r - size * 0.3, np.abs(y) - size * 0.42), 0.07)
        return _stemmed(body, x, y, z, size * 0.5, lean)

    def surface(hit: Hit) -> Surface:
        x, y, z = local(hit.x, hit.y, hit.z)
        angle = np.arctan2(x, z) * np.float32(1 / (2 * np.pi))
        lines = streak(angle, y * 0.5, hit.wide * 1.5)
        patch = blush(angle + 0.1, y * 0.8, hit.wide)
        weight = smoothstep(
            -0.5, 0.5, patch + 0.55 * lines + cover + 0.6 * smoothstep(0.1, -0.1, np.abs(y) - size * 0.5)
        )
        colour = mix(fill(green, 1), fill(red, 1), weight)
        top = length2(x, z)
        colour = mix(colour, fill(linear("8a7440"), 1), smoothstep(size * 0.32, 0.02, top) * (y > 0) * np.float32(0.7))
        stem = (top < 0.05) & (y > size * 0.3)
        colour = np.where(stem, fill(linear("3b2a18"), 1), colour)
        return Surface(colour, gloss=0.045, rough=0.26, soft=0.3)

    return Solid(distance, (at[0], at[1] + size, at[2]), size * 1.35, surface, step=0.85)


def _round(
    colours: tuple[Plane, Plane], radii: Callable[[float], tuple[float, float, float]], *, pits: float, rough: float
) -> Callable[[np.random.Generator, Place], Solid]:
    def make(rng: np.random.Generator, at: Place) -> Solid:
        size = float(rng.uniform(0.19, 0.22))
        rx, ry, rz = radii(size)
        skin = clouds(rng, knots=(24, 24) if pits else (3, 3), octaves=3 if pits else 5, gain=0.7)
        turned = float(rng.uniform(-0.9, 0.9))

        def distance(x: Plane, y: Plane, z: Plane) -> Plane:
            x, z = turn(x - at[0], z - at[2], turned)
            y = y - at[1] - ry
            body = ellipsoid(x, y, z, at=(0, 0, 0), radii=(rx, ry, rz))
            if rx > ry * 1.1:
                body = join(body, ellipsoid(x, y, z, at=(rx * 0.98, 0, 0), radii=(0.045, 0.03, 0.03)), 0.07)
                body = join(body, ellipsoid(x, y, z, at=(-rx * 0.96, 0, 0), radii=(0.03, 0.035, 0.035)), 0.06)
            return body

        material = mottled(colours, skin, scale=1.6, contrast=0.8, gloss=0.05, rough=rough, bump=pits, soft=0.4)
        return Solid(distance, (at[0], at[1] + ry, at[2]), max(rx, ry, rz) + 0.06, material, step=0.85)

    return make


def _pear(rng: np.random.Generator, at: Place) -> Solid:
    size, lean = float(rng.uniform(0.19, 0.21)), float(rng.uniform(-0.06, 0.06))
    skin = clouds(rng, knots=(20, 20), octaves=4, gain=0.75)
    base = (hsv(rng.uniform(0.13, 0.2), 0.7, 0.72), hsv(rng.uniform(0.09, 0.14), 0.75, 0.5))

    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        x, y, z = x - at[0], y - at[1], z - at[2]
        body = sphere(x, y, z, at=(0, size * 0.97, 0), radius=size)
        body = join(body, sphere(x, y, z, at=(lean * 0.7, size * 2.15, 0), radius=size * 0.5), 0.22)
        return _stemmed(body, x - lean, y, z, size * 2.62, lean * 0.6)

    material = mottled(base, skin, scale=1.4, contrast=0.9, gloss=0.035, rough=0.4, bump=0.12, soft=0.4)
    return Solid(distance, (at[0], at[1] + size * 1.45, at[2]), size * 1.8, material, step=0.85)


_FRUIT: dict[str, Callable[[np.random.Generator, Place], Solid]] = {
    "apple": _apple,
    "orange": _round((hsv(0.065, 0.92, 0.9), hsv(0.085, 0.88, 0.95)), lambda s: (s, s * 0.95, s), pits=0.5, rough=0.34),
    "lemon": _round(
        (hsv(0.135, 0.8, 0.93), hsv(0.15, 0.72, 0.9)), lambda s: (s * 1.08, s * 0.8, s * 0.8), pits=0.4, rough=0.34
    ),
    "plum": _round(
        (hsv(0.85, 0.6, 0.25), hsv(0.72, 0.35, 0.42)), lambda s: (s * 0.8, s * 0.75, s * 0.78), pits=0.0, rough=0.3
    ),
    "pear": _pear,
}
