"""A kitchen counter: tiles, a window, jars, a kettle, a board with vegetables."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, ramp, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.furniture import moved, plant
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.material import fill, floor_map, glazed, mottled, plain, planks
from convergebench.images.pictures.produce import bowl, fruit
from convergebench.images.pictures.sheet import Plane, Sheet
from convergebench.images.pictures.solid import box, capsule, cylinder, join, lathe, rounded, sphere
from convergebench.images.pictures.stage import window_glow
from convergebench.images.pictures.texture import clouds
from convergebench.images.pictures.world import Distance, Hit, Lamp, Material, Solid, Surface, Wall, World

BACK = -1.0


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("kitchen")
    towards = (float(rng.choice([-1, 1]) * rng.uniform(0.5, 0.9)), float(rng.uniform(0.8, 1.1)), 0.55)
    warm = np.array([1.0, 0.94, 0.84], dtype=np.float32) * np.float32(2.3)
    marble = clouds(rng, knots=(3, 3), octaves=7, gain=0.62)
    pale, vein = linear("d9d5cc"), linear("8b867e")
    top = mottled((pale, vein), marble, scale=0.35, contrast=0.7, gloss=0.05, rough=0.16, place=floor_map)
    cabinet = hsv(rng.random(), rng.uniform(0.12, 0.4), rng.uniform(0.4, 0.75))
    counter = Solid(
        lambda x, y, z: box(x, y, z, at=(0, -0.05, 0), half=(6, 0.05, 1.0), round=0.015), (0, 0, 0), 6.2, top
    )
    front = Solid(
        lambda x, y, z: box(x, y, z, at=(0, -1.0, -0.1), half=(6, 0.92, 1.0), round=0.01),
        (0, -1.0, 0),
        6.4,
        _cabinets(cabinet),
    )
    world = World(
        solids=[counter, front, *_things(sheet)],
        walls=[
            Wall((0, 0, 1), BACK, _tiles(rng)),
            Wall((0, 1, 0), -2.0, planks(rng, (linear("4a3420"), linear("9a7448")), width=0.3)),
        ],
        lamps=[Lamp(warm, towards=towards, soft=0.2)],
        sky=np.array([0.42, 0.44, 0.47], dtype=np.float32),
        earth=np.array([0.25, 0.22, 0.19], dtype=np.float32),
        surroundings=window_glow(towards, warm * np.float32(2), np.array([0.22, 0.22, 0.22], dtype=np.float32)),
        hollow=0.3,
    )
    camera = Camera(eye=(float(rng.uniform(-0.3, 0.3)), 1.15, 4.6), target=(0, 0.45, 0), zoom=2.35)
    return develop(paint(sheet, world, camera), sheet, exposure=0.8, vignette=0.25)


def _tiles(rng: np.random.Generator) -> Material:
    """Glazed tiles in running bond, a window above."""
    colour, grout = hsv(rng.random(), rng.uniform(0.03, 0.3), rng.uniform(0.75, 0.9)), linear("a9a49a")
    tone, glaze = rng.random((64, 64)).astype(np.float32), clouds(rng, knots=(8, 8), octaves=4)
    wide, tall = 0.34, 0.17
    window_x = float(rng.choice([-0.95, 0.95, 0.0]))

    def surface(hit: Hit) -> Surface:
        row = np.floor(hit.y / tall)
        u = hit.x / np.float32(wide) + 0.5 * np.mod(row, 2)
        column = np.floor(u)
        fu, fv = (u - column) * wide, hit.y - row * np.float32(tall)
        edge = np.minimum(np.minimum(fu, wide - fu), np.minimum(fv, tall - fv))
        on = np.clip((edge - 0.006) / np.maximum(hit.wide, 0.003), 0, 1)
        each = tone[row.astype(np.int64) % 64, column.astype(np.int64) % 64]
        value = glaze(hit.x * 0.5, hit.y * 0.5, hit.wide)
        made = mix(fill(grout, 1), fill(colour, hit.count) * (0.86 + 0.16 * each + 0.05 * value), on)
        inside = np.minimum(0.62 - np.abs(hit.x - window_x), np.minimum(hit.y - 0.62, 1.9 - hit.y))
        frame = smoothstep(-0.07, -0.06, inside)
        bars = np.minimum(np.abs(hit.x - window_x), np.abs(hit.y - 1.25))
        pane = smoothstep(0.0, 0.012, inside) * smoothstep(0.018, 0.024, bars)
        made = mix(made, fill(linear("e6e2da"), 1), frame) * (1 - pane)
        leaves = glaze(hit.x * 0.4 + 5, hit.y * 0.4, 0.02)
        view = ramp(
            np.clip((hit.y - 0.6) / 1.3 + 0.12 * leaves, 0, 1),
            [(0.0, linear("5f7d4a")), (0.35, linear("9fb483")), (0.6, linear("dce8ee")), (1.0, linear("b9d3ee"))],
        )
        tilt = (each - 0.5) * np.float32(0.05) * (1 - frame)
        n = hit.normal
        return Surface(
            made,
            gloss=0.05 * on,
            rough=0.15 + 0.6 * (1 - on),
            glow=view * (pane * np.float32(1.9)),
            bump=(n[0] + tilt, n[1] + tilt * 0.7 + 0.02 * value * on, n[2]),
        )

    return surface


def _cabinets(colour: Plane) -> Material:
    def surface(hit: Hit) -> Surface:
        u = np.mod(hit.x + 0.45, 0.9) - 0.45
        edge = np.minimum(0.44 - np.abs(u), np.minimum(-0.12 - hit.y, hit.y + 1.6))
        groove = np.exp(-np.square(edge / 0.008)) + 0.6 * np.exp(-np.square((edge - 0.08) / 0.008))
        knob = smoothstep(0.028, 0.022, np.hypot(np.abs(u) - 0.36, hit.y + 0.3))
        made = fill(colour, hit.count) * (1 - 0.55 * np.clip(groove, 0, 1))
        return Surface(mix(made, fill(linear("b08d4a"), 1), knob), gloss=0.03 + 0.2 * knob, rough=0.45)

    return surface


def _things(sheet: Sheet) -> list[Solid]:
    rng = sheet.random("things")
    order = rng.permutation([-1.25, -0.42, 0.42, 1.25])
    solids = [*_kettle(rng, float(order[0])), *_jars(rng, float(order[1])), *_board(rng, float(order[2]))]
    if rng.random() < 0.5:
        solids.append(
            bowl(glazed(hsv(rng.random(), 0.45, 0.7), rng), at=(float(order[3]), 0.05), radius=0.36, height=0.24)
        )
        for number, kind in enumerate(rng.permutation(["apple", "orange", "lemon", "pear"])[:2]):
            solids.append(fruit(str(kind), rng, at=(float(order[3]) - 0.14 + 0.28 * number, 0.12, 0.05)))
    else:
        solids.extend(plant(rng, at=(float(order[3]), -0.3)))
    return solids


def _kettle(rng: np.random.Generator, x0: float) -> list[Solid]:
    profile = rounded(
        np.array([(0, 0.03), (0.3, 0.03), (0.34, 0.1), (0.3, 0.35), (0.14, 0.46), (0.0, 0.48)], dtype=np.float32),
        passes=2,
    )
    enamel = hsv(rng.random(), rng.uniform(0.4, 0.75), rng.uniform(0.4, 0.75))

    def body(x: Plane, y: Plane, z: Plane) -> Plane:
        shell = lathe(x, y, z, profile=profile, wall=0.015)
        spout = capsule(x, y, z, start=(0.24, 0.2, 0), end=(0.46, 0.42, 0), radii=(0.06, 0.032))
        knob = sphere(x, y, z, at=(0, 0.52, 0), radius=0.035)
        return np.minimum(join(shell, spout, 0.05), knob)

    def handle(x: Plane, y: Plane, z: Plane) -> Plane:
        ring = np.hypot(np.hypot(x, (y - 0.42) * 0.95) - 0.26, z) - 0.02
        found: Plane = np.maximum(ring, 0.42 - y)
        return found

    spot = (x0, -0.25)
    return [
        Solid(moved(body, spot, 0.3), (x0, 0.26, -0.25), 0.56, plain(enamel, gloss=0.06, rough=0.1)),
        Solid(moved(handle, spot, 0.3), (x0, 0.52, -0.25), 0.34, plain(linear("2a211c"), rough=0.4)),
    ]


def _jars(rng: np.random.Generator, x0: float) -> list[Solid]:
    found = []
    for number, offset in enumerate((-0.24, 0.02, 0.26)):
        tall, radius = float(rng.uniform(0.32, 0.58)), float(rng.uniform(0.1, 0.125))
        spot = (x0 + offset, -0.5 + 0.12 * number)
        grain = clouds(rng, knots=(40, 40), octaves=2, gain=0.9)
        content = (("c8a05a", "6a4a1c"), ("e4dcc8", "b8a888"), ("7a3018", "3a1408"), ("8a9a3c", "4a5a1c"))[
            rng.integers(4)
        ]
        inside = mottled((linear(content[0]), linear(content[1])), grain, scale=1.0, gloss=0.06, rough=0.08)
        found.append(
            Solid(
                moved(_pot(radius, tall), spot),
                (spot[0], tall / 2, spot[1]),
                float(np.hypot(tall / 2, radius)) + 0.02,
                inside,
            )
        )
        lid = plain((linear("a9825a"), linear("b9b9b9"))[rng.integers(2)], rough=0.5)
        found.append(Solid(moved(_lid(radius, tall), spot), (spot[0], tall + 0.02, spot[1]), radius + 0.05, lid))
    return found


def _pot(radius: float, tall: float) -> Distance:
    return lambda x, y, z: cylinder(x, y, z, at=(0, tall / 2, 0), radius=radius, half=tall / 2, round=0.03)


def _lid(radius: float, tall: float) -> Distance:
    return lambda x, y, z: cylinder(x, y, z, at=(0, tall + 0.025, 0), radius=radius * 0.95, half=0.03, round=0.008)


def _board(rng: np.random.Generator, x0: float) -> list[Solid]:
    wood = planks(rng, (linear("7a522e"), linear("c99a62")), width=0.12, turned=True, rough=0.5)
    found = [
        Solid(
            lambda x, y, z: box(x, y, z, at=(x0, 0.025, 0.35), half=(0.46, 0.025, 0.28), round=0.015),
            (x0, 0.02, 0.35),
            0.58,
            wood,
        )
    ]
    red = plain(hsv(rng.uniform(-0.02, 0.02), 0.85, 0.62), rough=0.14, gloss=0.05, soft=0.4)
    for _ in range(int(rng.integers(3, 5))):
        size, px, pz = (
            float(rng.uniform(0.07, 0.095)),
            x0 + float(rng.uniform(-0.32, 0.32)),
            0.35 + float(rng.uniform(-0.15, 0.15)),
        )
        found.append(Solid(_ball((px, 0.05 + size * 0.9, pz), size), (px, 0.05 + size, pz), size * 1.1, red))
    blade = Solid(
        lambda x, y, z: box(x, y, z, at=(x0 + 0.02, 0.056, 0.55), half=(0.26, 0.004, 0.03), round=0.003),
        (x0, 0.05, 0.55),
        0.3,
        plain(linear("b8bcc0"), gloss=0.5, rough=0.15),
    )
    grip = Solid(
        lambda x, y, z: capsule(
            x, y, z, start=(x0 + 0.29, 0.065, 0.55), end=(x0 + 0.46, 0.065, 0.55), radii=(0.018, 0.02)
        ),
        (x0 + 0.38, 0.06, 0.55),
        0.13,
        plain(linear("1e1512"), rough=0.4),
    )
    return [*found, blade, grip]


def _ball(at: tuple[float, float, float], size: float) -> Distance:
    return lambda x, y, z: sphere(x, (y - at[1]) * 1.12 + at[1], z, at=at, radius=size)
