"""A plate of potstickers: dough, crust, scallions, sauce; structure at every scale."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.furniture import Measure
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.material import fill, glazed
from convergebench.images.pictures.sheet import Plane, Sheet
from convergebench.images.pictures.solid import cylinder, ellipsoid, join, lathe, length2, rounded, turn
from convergebench.images.pictures.tabletop import set_table
from convergebench.images.pictures.texture import clouds, speckles
from convergebench.images.pictures.world import Hit, Material, Solid, Surface


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("potstickers")
    hue, depth = rng.random(), rng.uniform(0.05, 0.5)
    plate_profile = rounded(np.array([(0, 0.04), (0.85, 0.04), (1.02, 0.07), (1.32, 0.15)], dtype=np.float32), passes=2)
    plate = Solid(
        lambda x, y, z: lathe(x, y, z, profile=plate_profile, wall=0.028),
        (0, 0.08, 0),
        1.42,
        _rimmed(rng, hsv(hue, depth, 0.82)),
    )
    solids = [plate]
    turned = float(rng.uniform(0, 6.28))
    count = 7
    for number in range(count):
        angle = turned + number * 2 * np.pi / count
        spot = (0.74 * float(np.cos(angle)), 0.70 * float(np.sin(angle)))
        solids.append(_dumpling(rng, spot, float(-angle + np.pi / 2 + rng.uniform(-0.15, 0.15)), 0.07))
    solids.append(_dumpling(rng, (0.08, -0.05), float(rng.uniform(0, 3)), 0.20))
    solids.extend(_scallions(rng))
    sauce = (float(rng.choice([-1.45, 1.45])), 0.75)
    dish = rounded(np.array([(0, 0.04), (0.22, 0.04), (0.36, 0.2)], dtype=np.float32), passes=2)
    solids.append(
        Solid(
            lambda x, y, z: lathe(x - sauce[0], y, z - sauce[1], profile=dish, wall=0.02),
            (sauce[0], 0.1, sauce[1]),
            0.42,
            glazed(linear("20252b"), rng, rough=0.1),
        )
    )
    solids.append(
        Solid(
            lambda x, y, z: cylinder(x, y, z, at=(sauce[0], 0.12, sauce[1]), radius=0.30, half=0.012, round=0.004),
            (sauce[0], 0.12, sauce[1]),
            0.33,
            _soy,
        )
    )
    camera = Camera(eye=(float(rng.uniform(-0.5, 0.5)), 2.75, 3.2), target=(0, 0.05, 0.08), zoom=2.75)
    return develop(paint(sheet, set_table(sheet, solids), camera), sheet, exposure=0.82, vignette=0.3)


def _soy(hit: Hit) -> Surface:
    return Surface(fill(linear("1c0b05"), hit.count), gloss=0.07, rough=0.05)


def _rimmed(rng: np.random.Generator, colour: Plane) -> Material:
    base, ring = glazed(colour, rng, rough=0.12), hsv(rng.random(), 0.6, 0.35)

    def surface(hit: Hit) -> Surface:
        made = base(hit)
        r = length2(hit.x, hit.z)
        lines = smoothstep(0.008, 0.0, np.abs(r - 1.24) - 0.012) + smoothstep(0.006, 0.0, np.abs(r - 1.19) - 0.004)
        made.colour = mix(made.colour, fill(ring, 1), np.clip(lines, 0, 1) * 0.85)
        oil = smoothstep(0.2, 0.6, np.sin(hit.x * 5 + np.sin(hit.z * 4) * 2) * 0.5 + 0.5) * smoothstep(0.95, 0.7, r)
        made.colour = mix(made.colour, fill(linear("6a4016"), 1), oil * 0.35)
        return made

    return surface


def _dumpling(rng: np.random.Generator, at: tuple[float, float], turned: float, base: float) -> Solid:
    curve, pleats, phase = float(rng.uniform(0.9, 1.5)), int(rng.integers(20, 27)), float(rng.uniform(0, 6))
    size = float(rng.uniform(0.94, 1.06))
    dough, crust = clouds(rng, knots=(6, 6), octaves=6, gain=0.6), clouds(rng, knots=(14, 14), octaves=5, gain=0.7)
    sesame = speckles(rng, count=60, radius=(0.004, 0.008))
    toast = float(rng.uniform(-0.15, 0.25))

    def local(x: Plane, y: Plane, z: Plane) -> tuple[Plane, Plane, Plane]:
        x, z = turn((x - at[0]) / size, (z - at[1]) / size, turned)
        return x, (y - base) / size, z - curve * x * x

    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        x, y, z = local(x, y, z)
        fold = np.sin(x * pleats + phase)
        body = ellipsoid(x, y, z, at=(0, 0.15, 0), radii=(0.40, 0.20, 0.20))
        body = np.maximum(body, -y + 0.0)
        seam = ellipsoid(
            x, y, z - 0.022 * fold * smoothstep(0.2, 0.36, y), at=(0, 0.27, 0.02), radii=(0.39, 0.135, 0.03)
        )
        body = join(body, seam, 0.09)
        ridge = 0.020 * fold * smoothstep(0.12, 0.3, y) * smoothstep(0.4, 0.3, np.abs(x))
        found: Plane = (body - ridge - 0.006 * dough(x * 0.5, y * 0.5 + z * 0.5)) * np.float32(size * 0.85)
        return found

    def silhouette(x: Plane, y: Plane, z: Plane) -> Plane:
        x, y, z = local(x, y, z)
        body = ellipsoid(x, y, z, at=(0, 0.15, 0), radii=(0.40, 0.20, 0.20))
        seam = ellipsoid(x, y, z, at=(0, 0.27, 0.02), radii=(0.39, 0.135, 0.03))
        return join(body, seam, 0.09) * np.float32(size)

    def surface(hit: Hit) -> Surface:
        x, y, z = local(hit.x, hit.y, hit.z)
        fine, spots = dough(x * 1.2, y * 1.2 + z, hit.wide * 1.2), crust(x * 0.9, y + z * 0.9, hit.wide)
        colour = fill(linear("e8d3a6"), hit.count) * (1 + 0.08 * fine)
        colour = mix(colour, fill(linear("d8b878"), 1), smoothstep(0.25, 0.4, y) * 0.6)
        brown = smoothstep(0.16, -0.02, y - 0.13 * spots - toast * 0.25) + 0.5 * smoothstep(
            0.35, 0.6, spots
        ) * smoothstep(0.4, 0.33, y)
        colour = mix(colour, fill(linear("a8622a"), 1), np.clip(brown, 0, 1) * 0.85)
        colour = mix(colour, fill(linear("4a2210"), 1), smoothstep(0.05, -0.03, y - 0.09 * spots) * 0.8)
        filling = (
            smoothstep(0.1, 0.5, dough(x * 0.35 + 0.3, y * 0.35, hit.wide))
            * smoothstep(0.05, 0.15, y)
            * smoothstep(0.32, 0.2, y)
        )
        colour = mix(colour, fill(linear("b08a5c"), 1), filling * 0.3)
        seed = sesame(x * 0.9 + 0.2, z * 0.9 + y * 0.5, hit.wide)
        colour = mix(colour, fill(linear("f2e6c8"), 1), seed * 0.8)
        return Surface(colour, gloss=0.045, rough=np.clip(0.30 + 0.2 * fine, 0.12, 0.6), soft=0.5)

    return Solid(distance, (at[0], base + 0.2, at[1]), 0.52 * size, surface, step=0.8, silhouette=silhouette)


def _scallions(rng: np.random.Generator) -> list[Solid]:
    """Rings of scallion, scattered over and between."""
    found = []
    for _ in range(26):
        r, angle = 0.95 * float(np.sqrt(rng.random())), float(rng.uniform(0, 6.28))
        size = float(rng.uniform(0.028, 0.05))
        at = (r * float(np.cos(angle)), 0.09 + float(rng.uniform(0, 0.02)), r * float(np.sin(angle)))
        found.append(Solid(_ring(at, size, float(rng.uniform(-0.8, 0.8))), at, size * 1.7, _green(rng)))
    return found


def _ring(at: tuple[float, float, float], size: float, lean: float) -> Measure:
    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        px, py = turn(x - at[0], y - at[1], lean)
        q = length2(px, z - at[2]) - size
        found: Plane = np.maximum(np.abs(q) - 0.009, np.abs(py) - 0.016) - 0.004
        return found

    return distance


def _green(rng: np.random.Generator) -> Material:
    tone = hsv(float(rng.uniform(0.2, 0.32)), float(rng.uniform(0.5, 0.75)), float(rng.uniform(0.45, 0.75)))
    return lambda hit: Surface(fill(tone, hit.count), gloss=0.05, rough=0.25, soft=0.6)
