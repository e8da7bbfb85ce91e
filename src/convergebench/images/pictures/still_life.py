"""Fruit, a bottle and a bowl on a table by a window."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.material import glazed, planks, plaster
from convergebench.images.pictures.produce import bottle, bowl, fruit
from convergebench.images.pictures.sheet import Sheet
from convergebench.images.pictures.stage import window_glow
from convergebench.images.pictures.world import Lamp, Solid, Wall, World

WOODS = (("3a2112", "8a5a33"), ("54361f", "b07d4c"), ("241812", "5e4230"), ("6b4a2c", "c79a66"))
WALLS = ("6d7466", "8a7a66", "4b5560", "9a8f80", "5a4a46", "39474a")


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("still life")
    wood = WOODS[rng.integers(len(WOODS))]
    left = -1.0 if rng.random() < 0.6 else 1.0
    towards = (left * rng.uniform(0.75, 1.0), rng.uniform(0.65, 0.9), rng.uniform(0.25, 0.6))
    warm = np.array([1.0, 0.9, 0.76], dtype=np.float32) * np.float32(rng.uniform(2.6, 3.2))
    wall = linear(WALLS[rng.integers(len(WALLS))])
    world = World(
        solids=_arranged(sheet, left),
        walls=[
            Wall((0, 1, 0), 0.0, planks(rng, (linear(wood[0]), linear(wood[1])), width=0.52, turned=True, rough=0.35)),
            Wall((0, 0, 1), -1.9, plaster(wall, rng, uneven=0.16)),
        ],
        lamps=[Lamp(warm, towards=towards, soft=0.16)],
        sky=np.array([0.30, 0.33, 0.38], dtype=np.float32),
        earth=np.array([0.16, 0.11, 0.07], dtype=np.float32),
        surroundings=window_glow(towards, warm * np.float32(2.2), np.array([0.10, 0.10, 0.11], dtype=np.float32)),
    )
    camera = Camera(eye=(rng.uniform(-0.35, 0.35), 1.35, 4.6), target=(0, 0.47, 0), zoom=3.25)
    return develop(paint(sheet, world, camera), sheet, exposure=0.8, vignette=0.35)


def _arranged(sheet: Sheet, left: float) -> list[Solid]:
    """Tall things behind on the dark side, fruit in and around the bowl."""
    rng = sheet.random("arrangement")
    solids = [bottle(rng, at=(-left * 0.62 + rng.uniform(-0.06, 0.06), -0.55), height=rng.uniform(1.35, 1.6))]
    hue = rng.random()
    clay = glazed(hsv(hue, rng.uniform(0.15, 0.5), rng.uniform(0.55, 0.85)), rng)
    centre = (left * 0.28, -0.15)
    solids.append(bowl(clay, at=centre, radius=0.56, height=0.34))
    kinds = rng.permutation(["apple", "orange", "lemon", "pear", "plum", "apple"])
    for kind, (dx, dz, lift) in zip(kinds[:3], ((-0.2, 0.1, 0.2), (0.22, 0.02, 0.2), (0.0, -0.22, 0.24)), strict=True):
        solids.append(fruit(str(kind), rng, at=(centre[0] + dx, lift, centre[1] + dz)))
    spots = [(-left * 0.42, 0.55), (-left * 0.05, 0.82), (left * 0.95, 0.35)]
    for kind, (px, pz) in zip(kinds[3:], spots, strict=True):
        solids.append(fruit(str(kind), rng, at=(px + rng.uniform(-0.08, 0.08), 0.0, pz)))
    return solids
