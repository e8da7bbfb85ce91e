"""Pieces of furniture as solids."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from convergebench.images.pictures.colour import hsv, linear
from convergebench.images.pictures.material import cloth, fill, glazed, mottled, plain, planks
from convergebench.images.pictures.sheet import Plane
from convergebench.images.pictures.solid import box, capsule, cylinder, ellipsoid, join, lathe, length2, turn
from convergebench.images.pictures.texture import clouds
from convergebench.images.pictures.world import Hit, Solid, Surface, Triple

Floor = tuple[float, float]
Measure = Callable[[Plane, Plane, Plane], Plane]


def moved(shape: Measure, at: Floor, angle: float = 0.0) -> Measure:
    """A shape set down at (x, z) and turned."""

    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        px, pz = x - at[0], z - at[1]
        if angle:
            px, pz = turn(px, pz, angle)
        return shape(px, y, pz)

    return distance


def sofa(rng: np.random.Generator, colour: Plane, accent: Plane, *, at: Floor) -> list[Solid]:
    """A two-seat sofa facing the viewer, with cushions."""
    folds = clouds(rng, knots=(3, 3), octaves=4)

    def body(x: Plane, y: Plane, z: Plane) -> Plane:
        a = np.abs(x)
        base = box(x, y, z, at=(0, 0.26, 0), half=(1.05, 0.14, 0.44), round=0.05)
        back = box(x, y, z + 0.14 * (y - 0.3), at=(0, 0.62, -0.36), half=(1.05, 0.34, 0.13), round=0.09)
        arm = box(a, y, z, at=(1.04, 0.40, 0.02), half=(0.13, 0.29, 0.46), round=0.09)
        seat = box(
            a,
            y - 0.02 * np.cos(np.minimum(a - 0.46, 1) * 3),
            z,
            at=(0.46, 0.46, 0.07),
            half=(0.455, 0.10, 0.42),
            round=0.07,
        )
        rest = box(a, y, z + 0.22 * (y - 0.5), at=(0.46, 0.74, -0.20), half=(0.44, 0.24, 0.10), round=0.09)
        whole = np.minimum(join(base, arm, 0.03), np.minimum(back, np.minimum(seat, rest)))
        legs = capsule(a, y, np.abs(z), start=(0.95, 0.0, 0.36), end=(0.9, 0.14, 0.32), radii=(0.02, 0.03))
        found: Plane = np.minimum(whole - 0.008 * folds(x * 0.3, y * 0.3 + z * 0.3), legs)
        return found

    def pillow(x: Plane, y: Plane, z: Plane) -> Plane:
        x, y = turn(x, y - 0.74, 0.35)
        z, y = turn(z, y, 0.3)
        plump = np.clip(1 - 12 * np.square(np.maximum(np.abs(x), np.abs(y))), 0.0, 1.0)
        found: Plane = (box(x, y, z, at=(0, 0, 0), half=(0.22, 0.22, 0.035), round=0.03) - 0.055 * plump) * np.float32(
            0.8
        )
        return found

    side = float(rng.choice([-0.62, 0.6]))
    return [
        Solid(moved(body, at), (at[0], 0.5, at[1]), 1.4, cloth(colour, rng), step=0.9),
        Solid(
            moved(pillow, (at[0] + side, at[1] + 0.08)),
            (at[0] + side, 0.74, at[1] + 0.08),
            0.42,
            cloth(accent, rng, scale=2.0),
            step=0.8,
        ),
    ]


def low_table(rng: np.random.Generator, *, at: Floor) -> list[Solid]:
    """A round wooden table with a bowl and books on it."""
    dark, pale = (("4a2f1b", "9a6a3c"), ("2c1c12", "5f4128"), ("8a6a44", "d0ac7c"))[rng.integers(3)]

    def table(x: Plane, y: Plane, z: Plane) -> Plane:
        top = cylinder(x, y, z, at=(0, 0.40, 0), radius=0.52, half=0.025, round=0.012)
        angle = np.abs(np.arctan2(z, x))
        r = length2(x, z)
        fold_x, fold_z = (
            r * np.cos(angle - np.pi / 3 * np.round(angle / (np.pi / 3) - 0.5) - np.pi / 6),
            r * np.sin(angle - np.pi / 3 * np.round(angle / (np.pi / 3) - 0.5) - np.pi / 6),
        )
        leg = capsule(fold_x, y, fold_z, start=(0.44, 0.0, 0.0), end=(0.34, 0.39, 0.0), radii=(0.016, 0.024))
        return np.minimum(top, leg)

    profile = np.array([(0, 0.445), (0.07, 0.445), (0.12, 0.47), (0.155, 0.53)], dtype=np.float32)
    glaze = glazed(hsv(rng.random(), 0.4, 0.75), rng)
    books = [(0.16, 0.022, 0.115, 0.2, 0.0), (0.145, 0.018, 0.10, -0.12, 0.042)]
    solids = [
        Solid(
            moved(table, at),
            (at[0], 0.21, at[1]),
            0.62,
            planks(rng, (linear(dark), linear(pale)), width=2.0, rough=0.25),
            step=0.85,
        ),
        Solid(
            moved(lambda x, y, z: lathe(x, y, z, profile=profile, wall=0.01), (at[0] + 0.17, at[1] - 0.1)),
            (at[0] + 0.17, 0.48, at[1] - 0.1),
            0.2,
            glaze,
        ),
    ]
    for w, h, d, angle, lift in books:
        centre = (at[0] - 0.2, 0.427 + lift + h, at[1] + 0.08)
        shape = _book((w, h, d), centre[1])
        solids.append(
            Solid(
                moved(shape, (centre[0], centre[2]), angle),
                centre,
                w + 0.06,
                plain(hsv(rng.random(), 0.5, 0.55), rough=0.5),
            )
        )
    return solids


def _book(half: tuple[float, float, float], height: float) -> Measure:
    return lambda x, y, z: box(x, y, z, at=(0, height, 0), half=half, round=0.006)


def plant(rng: np.random.Generator, *, at: Floor) -> list[Solid]:
    """A house plant with broad leaves in a pot."""
    profile = np.array([(0, 0.02), (0.15, 0.02), (0.2, 0.36), (0.175, 0.36), (0.17, 0.31), (0, 0.31)], dtype=np.float32)
    pot = moved(lambda x, y, z: lathe(x, y, z, profile=profile, wall=0.012), at)
    solids = [Solid(pot, (at[0], 0.2, at[1]), 0.33, glazed(linear("b06a45"), rng, rough=0.5))]
    tones = clouds(rng, knots=(8, 8), octaves=3)
    tips: list[Triple] = []
    for number in range(13):
        turned = number * 2.4 + float(rng.uniform(-0.3, 0.3))
        rise, reach = float(rng.uniform(0.35, 1.05)), float(rng.uniform(0.15, 0.42))
        tip = (at[0] + reach * float(np.cos(turned)), 0.3 + rise, at[1] + reach * float(np.sin(turned)) * 0.7)
        green = hsv(float(rng.uniform(0.25, 0.36)), float(rng.uniform(0.5, 0.75)), float(rng.uniform(0.25, 0.5)))
        material = mottled((green, green * np.float32(0.6)), tones, scale=1.2, rough=0.35, soft=0.5)
        lean, size = float(rng.uniform(-0.9, 0.9)), float(rng.uniform(0.14, 0.22))
        solids.append(Solid(_leaf(tip, turned, lean, size), tip, size + 0.03, material, step=0.7))
        tips.append(tip)
    solids.append(_stems((at[0], 0.3, at[1]), tips))
    return solids


def _leaf(tip: tuple[float, float, float], turned: float, lean: float, size: float) -> Measure:
    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        px, pz = turn(x - tip[0], z - tip[2], turned)
        px, py = turn(px, y - tip[1], lean)
        bent = py + 1.3 * px * px + 0.35 * np.abs(pz)
        return ellipsoid(px, bent, pz, at=(0, 0, 0), radii=(size, 0.012, size * 0.55)) * np.float32(0.8)

    return distance


def _stems(root: Triple, tips: list[Triple]) -> Solid:
    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        stems = [capsule(x, y, z, start=root, end=tip, radii=(0.008, 0.006)) for tip in tips]
        found: Plane = np.minimum.reduce(stems)
        return found

    reach = max(float(np.linalg.norm(np.subtract(tip, root))) for tip in tips)
    middle = (root[0], root[1] + reach / 2, root[2])
    return Solid(distance, middle, reach * 0.75, plain(linear("4a5a2a")), casts=False)


def lamp_stand(rng: np.random.Generator, *, at: Floor) -> list[Solid]:
    """A floor lamp with a glowing shade."""
    warm = np.array([1.0, 0.78, 0.5], dtype=np.float32)
    profile = np.array([(0.2, 1.45), (0.14, 1.78)], dtype=np.float32)

    def shade(hit: Hit) -> Surface:
        rise = (hit.y - 1.45) / 0.33
        lit = np.exp(-np.square((rise - 0.35) / 0.5)) * np.float32(rng_glow)
        return Surface(fill(linear("e0d2b8"), hit.count), gloss=0.01, rough=0.9, glow=fill(warm, 1) * lit, soft=0.6)

    rng_glow = float(rng.uniform(0.25, 0.8))
    stand = moved(
        lambda x, y, z: np.minimum(
            capsule(x, y, z, start=(0, 0, 0), end=(0, 1.6, 0), radii=(0.012, 0.012)),
            cylinder(x, y, z, at=(0, 0.015, 0), radius=0.15, half=0.015, round=0.008),
        ),
        at,
    )
    return [
        Solid(stand, (at[0], 0.8, at[1]), 0.85, plain(linear("2b2723"), rough=0.3, gloss=0.1)),
        Solid(
            moved(lambda x, y, z: lathe(x, y, z, profile=profile, wall=0.006), at), (at[0], 1.62, at[1]), 0.29, shade
        ),
    ]
