"""A painted vase with blossoming twigs."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.material import fill, glazed, plain
from convergebench.images.pictures.sheet import Plane, Sheet
from convergebench.images.pictures.solid import capsule, lathe, length2, rounded
from convergebench.images.pictures.tabletop import set_table
from convergebench.images.pictures.texture import clouds
from convergebench.images.pictures.world import Hit, Material, Solid, Surface, Triple


def draw(sheet: Sheet) -> Pixels:
    """A painted vase with blossoming twigs."""
    rng = sheet.random("vase")
    tall, belly = float(rng.uniform(0.95, 1.15)), float(rng.uniform(0.33, 0.42))
    knots = [(0.0, 0.03), (belly * 0.55, 0.03), (belly * 0.8, 0.18), (belly, tall * float(rng.uniform(0.4, 0.6)))]
    knots += [
        (belly * 0.75, tall * 0.78),
        (belly * 0.36, tall * 0.88),
        (belly * 0.34, tall * 0.95),
        (belly * 0.5, tall),
    ]
    profile = rounded(np.array(knots, dtype=np.float32), passes=2)
    body = Solid(
        lambda x, y, z: lathe(x, y, z, profile=profile, wall=0.02), (0, tall / 2, 0), tall * 0.62, _painted(rng, tall)
    )
    solids = [body]
    petal = hsv(float(rng.choice([0.94, 0.08, 0.13, 0.75, 0.0])), float(rng.uniform(0.1, 0.5)), 0.95)
    for number in range(5):
        lean = (number - 2) * 0.17 + float(rng.uniform(-0.08, 0.08))
        solids.extend(_twig(rng, (0.03 * (number - 2), tall * 0.9, 0.0), lean, petal))
    world = set_table(sheet, solids)
    camera = Camera(eye=(0.0, 1.5, 5.2), target=(0, 0.88, 0), zoom=4.0)
    return develop(paint(sheet, world, camera), sheet, exposure=0.85, vignette=0.35)


def _painted(rng: np.random.Generator, tall: float) -> Material:
    """Glaze with painted bands and leaves."""
    glaze, ink = hsv(rng.random(), rng.uniform(0.05, 0.25), 0.88), hsv(rng.choice([0.6, 0.02, 0.4, 0.55]), 0.75, 0.42)
    base = glazed(glaze, rng, rough=0.14)
    leaves = int(rng.integers(7, 12))
    wobble = clouds(rng, knots=(6, 6), octaves=4)

    def surface(hit: Hit) -> Surface:
        made = base(hit)
        turns = np.arctan2(hit.x, hit.z) * np.float32(leaves / (2 * np.pi))
        shaky = 0.02 * wobble(turns * 0.2, hit.y, hit.wide)
        y = hit.y / np.float32(tall) + shaky
        bands = sum(
            smoothstep(0.006, 0.0, np.abs(y - level) - width)
            for level, width in ((0.12, 0.01), (0.16, 0.004), (0.72, 0.012), (0.765, 0.004), (0.985, 0.012))
        )
        u = (np.mod(turns, 1) - 0.5) / leaves * 6.28 * 0.35
        v = (y - 0.44) * tall
        swing = u + 0.05 * np.sin(v * 9)
        leaf = np.abs(swing) - 0.085 * np.clip(1 - np.square(v / 0.24), 0, 1)
        vein = smoothstep(0.004, 0.0, np.abs(swing) - 0.003) + smoothstep(
            0.35, 0.6, np.sin((v + np.abs(swing) * 1.2) * 110)
        )
        paint_ = smoothstep(0.006, -0.006, leaf) * (1 - 0.55 * np.clip(vein, 0, 1))
        made.colour = mix(made.colour, fill(ink, 1), np.clip(bands + paint_, 0, 1) * (0.82 + 0.3 * shaky * 20))
        return made

    return surface


def _twig(rng: np.random.Generator, root: Triple, lean: float, petal: Plane) -> list[Solid]:
    bark, parts = plain(linear("3d2c1e"), rough=0.8), []
    place, heading = np.array(root), lean
    for step in range(3):
        reach = 0.34 - 0.05 * step
        end = place + reach * np.array([np.sin(heading), np.cos(heading), float(rng.uniform(-0.25, 0.25))])
        low, high = (float(v) for v in (0.014 - 0.003 * step, 0.011 - 0.003 * step))
        parts.append(_rod(_triple(place), _triple(end), (low, high), bark))
        for _ in range(3):
            along = place + (end - place) * rng.uniform(0.2, 1.0) + rng.normal(0, 0.045, 3)
            parts.append(_blossom(rng, _triple(along), petal))
        place, heading = end, heading + float(rng.uniform(-0.35, 0.35))
    return parts


def _triple(place: Plane) -> Triple:
    return float(place[0]), float(place[1]), float(place[2])


def _rod(low: Triple, high: Triple, radii: tuple[float, float], material: Material) -> Solid:
    middle = ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2)
    reach = float(np.linalg.norm(np.subtract(high, low))) / 2 + max(radii)
    return Solid(lambda x, y, z: capsule(x, y, z, start=low, end=high, radii=radii), middle, reach, material)


def _blossom(rng: np.random.Generator, at: Triple, petal: Plane) -> Solid:
    size, spin, tilt = float(rng.uniform(0.045, 0.075)), float(rng.uniform(0, 6)), float(rng.uniform(-0.5, 0.5))

    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        px, py, pz = x - at[0], y - at[1], z - at[2] - tilt * (y - at[1])
        angle = np.arctan2(py, px) + spin
        r = length2(px, py)
        lobes = 0.62 + 0.38 * np.abs(np.cos(angle * 2.5))
        found: Plane = np.maximum(r - size * lobes, np.abs(pz - 3.5 * r * r) - 0.008) * np.float32(0.6)
        return found

    def surface(hit: Hit) -> Surface:
        r = length2(hit.x - at[0], hit.y - at[1]) / size
        colour = mix(
            fill(petal * np.array([0.9, 0.55, 0.55], dtype=np.float32), 1), fill(petal, 1), smoothstep(0.1, 0.6, r)
        )
        colour = mix(fill(linear("c9a02a"), 1), colour, smoothstep(0.16, 0.22, r))
        return Surface(colour, gloss=0.02, rough=0.7, soft=0.8)

    return Solid(distance, at, size * 1.2, surface, step=0.9)
