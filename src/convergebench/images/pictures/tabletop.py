"""A table by a window: laid for other pictures to put things on, and empty."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.material import cloth, fill, floor_map, planks, plaster
from convergebench.images.pictures.sheet import Plane, Sheet
from convergebench.images.pictures.solid import box
from convergebench.images.pictures.stage import window_glow
from convergebench.images.pictures.world import Hit, Lamp, Material, Solid, Surface, Wall, World

WOODS = (("3a2112", "8a5a33"), ("54361f", "b07d4c"), ("2a1c14", "6a4a34"), ("7a5634", "d0a874"))
WALLS = ("7d8478", "9a8a76", "6b7580", "b0a492", "7a6a62", "59696c", "a4adb3")


def set_table(
    sheet: Sheet, solids: list[Solid], *, top: Material | None = None, back: float = -2.2, soft: float = 0.18
) -> World:
    """Things on a table before a wall, lit from a window at one side."""
    rng = sheet.random("table")
    side = float(rng.choice([-1.0, 1.0]))
    towards = (side * float(rng.uniform(0.7, 1.0)), float(rng.uniform(0.7, 1.0)), float(rng.uniform(0.25, 0.65)))
    warm = np.array([1.0, rng.uniform(0.86, 0.97), rng.uniform(0.72, 0.95)], dtype=np.float32) * np.float32(2.7)
    wood = WOODS[rng.integers(len(WOODS))]
    boards = planks(rng, (linear(wood[0]), linear(wood[1])), width=0.46, turned=True, rough=0.34)
    return World(
        solids=solids,
        walls=[
            Wall((0, 1, 0), 0.0, top or boards),
            Wall((0, 0, 1), back, plaster(linear(WALLS[rng.integers(len(WALLS))]), rng, uneven=0.1)),
        ],
        lamps=[Lamp(warm, towards=towards, soft=soft)],
        sky=np.array([0.36, 0.38, 0.42], dtype=np.float32),
        earth=np.array([0.20, 0.15, 0.11], dtype=np.float32),
        surroundings=window_glow(towards, warm * np.float32(2.0), np.array([0.13, 0.13, 0.14], dtype=np.float32)),
    )


def wooden_table(sheet: Sheet) -> Pixels:
    """An empty wooden table, a blurred room behind it."""
    rng = sheet.random("empty")
    wood = WOODS[rng.integers(len(WOODS))]
    boards = planks(rng, (linear(wood[0]), linear(wood[1])), width=0.36, turned=True, rough=0.3, gloss=0.06)
    table = Solid(
        lambda x, y, z: box(x, y, z, at=(0, -0.06, 0), half=(2.5, 0.06, 1.6), round=0.02), (0, -0.06, 0), 2.95, boards
    )
    legs = Solid(
        lambda x, y, z: box(np.abs(x), y, np.abs(z), at=(2.3, -0.9, 1.35), half=(0.09, 0.8, 0.09), round=0.015),
        (0, -0.9, 0),
        2.8,
        boards,
    )
    world = set_table(sheet, [table, legs], back=-5.5)
    floor = planks(rng, (linear("2e2118"), linear("6e5238")), width=0.3, place=floor_map, rough=0.4)
    wall = world.walls[1]
    world.walls = [Wall((0, 1, 0), -1.7, floor), Wall(wall.normal, wall.offset, _shelved(wall.material, rng))]
    camera = Camera(eye=(float(rng.uniform(-0.4, 0.4)), 1.75, 4.0), target=(0, 0.12, -0.3), zoom=1.95)
    return develop(paint(sheet, world, camera), sheet, exposure=0.85, vignette=0.3)


def _shelved(wall: Material, rng: np.random.Generator) -> Material:
    """A far wall with a soft-focus window and shelf, as seen by a lens that looks at the table."""
    window_x, shelf_x = float(rng.uniform(-2.6, -1.4)), float(rng.uniform(1.2, 2.4))
    tones = rng.random(24)

    def surface(hit: Hit) -> Surface:
        made = wall(hit)
        pane = smoothstep(0.16, -0.02, np.maximum(np.abs(hit.x - window_x) - 0.9, np.abs(hit.y - 1.3) - 1.1))
        bar = smoothstep(0.0, 0.16, np.minimum(np.abs(hit.x - window_x), np.abs(hit.y - 1.35)))
        shelf = smoothstep(0.10, 0.0, np.abs(hit.y - 0.62) - 0.03) * smoothstep(
            0.12, 0.0, np.abs(hit.x - shelf_x) - 1.15
        )
        made.colour = mix(made.colour, fill(linear("4a3422"), 1), shelf)
        for number in range(6):
            place, tall = shelf_x - 0.9 + 0.36 * number, 0.2 + 0.35 * float(tones[number])
            jar = smoothstep(
                0.10, -0.02, np.maximum(np.abs(hit.x - place) - 0.10, np.abs(hit.y - 0.66 - tall / 2) - tall / 2)
            )
            made.colour = mix(
                made.colour, fill(hsv(float(tones[6 + number]), 0.4, 0.25 + 0.6 * float(tones[12 + number])), 1), jar
            )
        made.glow = fill(np.array([1.0, 1.03, 1.06]), 1) * (1.7 * pane * (0.35 + 0.65 * bar))
        return made

    return surface


def cloth_top(rng: np.random.Generator, colour: Plane) -> Material:
    """A table covered with cloth."""
    return cloth(colour, rng, place=floor_map, scale=0.8, soft=0.0)
