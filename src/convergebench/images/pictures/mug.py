"""A mug of coffee on a folded cloth, with biscuits."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.material import fill, glazed
from convergebench.images.pictures.sheet import Plane, Sheet
from convergebench.images.pictures.solid import box, cylinder, ellipsoid, join, lathe, length2, rounded
from convergebench.images.pictures.tabletop import set_table
from convergebench.images.pictures.texture import clouds, weave
from convergebench.images.pictures.world import Hit, Material, Solid, Surface, Triple


def draw(sheet: Sheet) -> Pixels:
    """A mug of coffee on a folded cloth."""
    rng = sheet.random("mug")
    wide, tall = float(rng.uniform(0.4, 0.48)), float(rng.uniform(0.85, 1.0))
    profile = rounded(
        np.array([(0, 0.05), (wide * 0.93, 0.05), (wide, 0.12), (wide, tall)], dtype=np.float32), passes=2
    )
    side = float(rng.choice([-1, 1]))

    def shape(x: Plane, y: Plane, z: Plane) -> Plane:
        shell = lathe(x, y, z, profile=profile, wall=0.03)
        ring = length2(length2(x - side * wide, (y - tall * 0.53) * 0.86) - 0.23, z) - 0.048
        ring = np.maximum(ring, (wide - 0.01) - side * x)
        return join(shell, ring, 0.05)

    band, glaze = hsv(rng.random(), rng.uniform(0.4, 0.7), 0.6), hsv(rng.random(), rng.uniform(0.03, 0.2), 0.86)
    body = glazed(glaze, rng, rough=0.12)
    style = int(rng.integers(3))

    def surface(hit: Hit) -> Surface:
        made = body(hit)
        turns = np.arctan2(hit.x, hit.z)
        outside = smoothstep(wide - 0.01, wide + 0.01, length2(hit.x, hit.z)) * smoothstep(
            0.06, 0.0, length2(hit.x, hit.z) - wide - 0.03
        )
        if style == 0:
            mark = smoothstep(0.008, -0.008, np.abs(hit.y - tall * 0.5) - 0.17)
        elif style == 1:
            mark = smoothstep(-0.1, 0.1, np.sin(turns * 18)) * smoothstep(0.01, -0.01, np.abs(hit.y - tall * 0.5) - 0.3)
        else:
            u, v = np.mod(turns * 1.6 + np.floor(hit.y / 0.16) * 0.2, 0.4) - 0.2, np.mod(hit.y, 0.16) - 0.08
            mark = smoothstep(0.008, -0.008, length2(u * wide, v) - 0.035)
        made.colour = mix(made.colour, fill(band, 1), mark * outside)
        return made

    coffee = Solid(
        lambda x, y, z: cylinder(x, y, z, at=(0, tall * 0.82, 0), radius=wide - 0.02, half=0.02, round=0.005),
        (0, tall * 0.82, 0),
        wide + 0.05,
        _coffee(rng),
    )
    linen = Solid(
        lambda x, y, z: box(x, y, z, at=(0.1, 0.02, 0.05), half=(0.85, 0.022, 0.6), round=0.02) - 0.0,
        (0.1, 0.02, 0.05),
        1.1,
        _striped(rng),
    )
    solids = [Solid(shape, (0, tall / 2, 0), tall * 0.85, surface, step=0.9), coffee, linen]
    for number in range(int(rng.integers(2, 4))):
        solids.append(_biscuit(rng, (-side * (0.72 + 0.1 * number), 0.075 + 0.075 * number, 0.32 - 0.05 * number)))
    world = set_table(sheet, solids)
    camera = Camera(eye=(float(rng.uniform(-0.4, 0.4)), 1.9, 4.4), target=(0, 0.45, 0), zoom=3.6)
    return develop(paint(sheet, world, camera), sheet, exposure=0.85, vignette=0.35)


def _coffee(rng: np.random.Generator) -> Material:
    foam = clouds(rng, knots=(5, 5), octaves=6, gain=0.6)

    def surface(hit: Hit) -> Surface:
        swirl = np.arctan2(hit.x, hit.z) + length2(hit.x, hit.z) * 6
        value = foam(hit.x * 0.5 + 0.06 * np.sin(swirl), hit.z * 0.5 + 0.06 * np.cos(swirl), hit.wide * 0.5)
        colour = mix(fill(linear("2a1408"), 1), fill(linear("b98350"), 1), smoothstep(0.05, 0.6, value))
        return Surface(colour, gloss=0.05, rough=0.12)

    return surface


def _striped(rng: np.random.Generator) -> Material:
    base, stripe, threads = linear("d8d0c0"), hsv(rng.random(), 0.5, 0.5), weave(96)
    tilt = float(rng.uniform(-0.1, 0.1))

    def surface(hit: Hit) -> Surface:
        value = threads(hit.x * 0.9, hit.z * 0.9, hit.wide * 0.9)
        x = hit.x + tilt * hit.z
        lines = smoothstep(0.008, 0.0, np.abs(np.abs(x - 0.1) - 0.6) - 0.05) + smoothstep(
            0.006, 0.0, np.abs(np.abs(x - 0.1) - 0.5) - 0.012
        )
        return Surface(
            mix(fill(base, 1), fill(stripe, 1), np.clip(lines, 0, 1)) * (0.55 + 0.5 * value), gloss=0.01, rough=0.9
        )

    return surface


def _biscuit(rng: np.random.Generator, at: Triple) -> Solid:
    crumb, chips = clouds(rng, knots=(12, 12), octaves=4, gain=0.7), clouds(rng, knots=(7, 7), octaves=2)

    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        body = ellipsoid(x, y, z, at=at, radii=(0.24, 0.055, 0.24))
        return body - 0.012 * crumb(x * 0.6, z * 0.6)

    def surface(hit: Hit) -> Surface:
        value = crumb(hit.x * 1.3, hit.z * 1.3 + hit.y, hit.wide)
        chip = smoothstep(0.35, 0.45, chips(hit.x * 0.9, hit.z * 0.9 + hit.y, hit.wide))
        colour = mix(fill(linear("7a4a22"), 1), fill(linear("d9a561"), 1), np.clip(0.55 + 0.5 * value, 0, 1))
        return Surface(mix(colour, fill(linear("2a1509"), 1), chip), gloss=0.02, rough=0.7, soft=0.2)

    return Solid(distance, at, 0.28, surface, step=0.7)
