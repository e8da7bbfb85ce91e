"""A narrow street of old houses."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.material import fill
from convergebench.images.pictures.sheet import Colours, Plane, Sheet
from convergebench.images.pictures.sky import PALETTES
from convergebench.images.pictures.solid import box, capsule, sphere
from convergebench.images.pictures.texture import Texture, clouds
from convergebench.images.pictures.towers import open_sky
from convergebench.images.pictures.world import Distance, Hit, Lamp, Material, Solid, Surface, Wall, World


def draw(sheet: Sheet) -> Pixels:
    """A narrow street of old houses, sun on one side."""
    rng = sheet.random("street")
    palette = str(rng.choice(["noon", "gold", "rose"]))
    side = float(rng.choice([-1, 1]))
    towards = (side * 0.75, float(rng.uniform(0.75, 1.0)), 0.55)
    solids: list[Solid] = []
    for bank in (-1.0, 1.0):
        z = 3.0
        while z > -24:
            wide, tall = float(rng.uniform(1.3, 2.2)), float(rng.uniform(2.7, 4.3))
            solids.append(_house(rng, bank, z - wide, wide, tall))
            z -= 2 * wide
    for number in range(4):
        solids.extend(_lamp_post((1.02 if number % 2 else -1.02), 0.5 - 3.2 * number))
    tree_x = -side * 0.9
    solids.extend(_tree(rng, (tree_x, -4.8)))
    world = World(
        solids=solids,
        walls=[Wall((0, 1, 0), 0.0, _cobbles(rng))],
        lamps=[Lamp(linear(PALETTES[palette][1]) * np.float32(2.9), towards=towards, soft=0.03)],
        sky=np.array([0.40, 0.47, 0.58], dtype=np.float32),
        earth=np.array([0.30, 0.25, 0.20], dtype=np.float32),
        surroundings=open_sky(palette, rng, towards, cover=0.45),
        haze=(linear(PALETTES[palette][0][0]) * np.float32(0.8), 0.008),
        hollow=0.5,
    )
    camera = Camera(eye=(float(rng.uniform(-0.35, 0.35)), 0.95, 4.2), target=(0.0, 1.35, -6.0), zoom=1.75)
    return develop(paint(sheet, world, camera), sheet, exposure=0.85, vignette=0.3)


def _house(rng: np.random.Generator, bank: float, z: float, wide: float, tall: float) -> Solid:
    wall = hsv(rng.choice([0.06, 0.09, 0.12, 0.02, 0.55, 0.3]), rng.uniform(0.12, 0.42), rng.uniform(0.55, 0.88))
    shutter, stain = (
        hsv(rng.choice([0.35, 0.58, 0.05, 0.45]), 0.5, 0.32),
        clouds(rng, knots=(3, 3), octaves=7, gain=0.65),
    )
    face = 1.55 + float(rng.uniform(-0.06, 0.06))
    storeys, bays = max(2, round(tall / 1.15)), max(2, round(wide / 0.55))
    storey, bay = tall / storeys, 2 * wide / bays
    awning = hsv(rng.random(), 0.6, 0.6)
    lit = rng.random((8, 12))

    def distance(x: Plane, y: Plane, z_: Plane) -> Plane:
        body = box(x, y, z_, at=(bank * (face + 1.5), tall / 2, z), half=(1.5, tall / 2, wide - 0.004), round=0.008)
        eave = box(x, y, z_, at=(bank * (face + 1.4), tall + 0.03, z), half=(1.52, 0.05, wide - 0.004), round=0.01)
        return np.minimum(body, eave)

    def surface(hit: Hit) -> Surface:
        u, v = hit.z - z + wide, hit.y
        column, row = np.floor(u / bay), np.floor(v / storey)
        fu, fv = np.mod(u, bay) - bay / 2, np.mod(v, storey) - storey * 0.52
        soft = np.maximum(hit.wide, 0.004)
        ground = row < 1
        half_w, half_h = np.where(ground, bay * 0.34, 0.15), np.where(ground, storey * 0.40, storey * 0.27)
        fv = np.where(ground, np.mod(v, storey) - storey * 0.40, fv)
        inside = np.minimum(half_w - np.abs(fu), half_h - np.abs(fv))
        pane = np.clip(inside / soft, 0, 1)
        frame = np.clip((inside + 0.035) / soft, 0, 1)
        bars = np.clip((np.minimum(np.abs(fu), np.abs(np.mod(fv, 0.2) - 0.1)) - 0.008) / soft, 0, 1)
        leaf = (
            np.clip(np.minimum(np.minimum(np.abs(fu) - 0.18, 0.30 - np.abs(fu)), half_h - np.abs(fv)) / soft, 0, 1)
            * ~ground
        )
        slats = 0.75 + 0.25 * np.sin(v * 160) * smoothstep(0.015, 0.004, hit.wide)
        grime = stain(u * 0.25, v * 0.25, hit.wide * 0.25)
        colour: Colours = fill(wall, hit.count) * (1 + 0.16 * grime - 0.25 * np.exp(-v * 4))
        colour = mix(colour, fill(linear("d9d2c4"), 1), frame)
        colour = mix(colour, fill(shutter, 1) * slats, leaf)
        shade_row = np.clip((np.abs(fv - half_h - 0.02) < 0.05) * 1.0, 0, 1) * ground
        colour = mix(colour, fill(awning, 1) * (0.7 + 0.3 * np.sign(np.sin(u * 40))), shade_row)
        colour = mix(colour, fill(linear("15181c"), 1), pane * bars)
        band = np.clip((0.03 - np.abs(v - storey * 0.97)) / soft, 0, 1)
        colour = mix(colour, fill(linear("c9c0b0"), 1), band)
        roof = hit.normal[1] > 0.5
        colour = np.where(roof, fill(linear("7a4030"), 1), colour)
        warm = (lit[row.astype(int) % 8, column.astype(int) % 12] > 0.86) * pane * bars * ~roof
        facade = np.abs(hit.normal[0]) > 0.5
        return Surface(
            np.where(facade | roof, colour, fill(wall * np.float32(0.8), 1)),
            gloss=0.02 + 0.16 * pane * bars * facade,
            rough=0.75 - 0.65 * pane * bars,
            glow=fill(np.array([0.9, 0.55, 0.22]), 1) * warm * facade,
        )

    reach = float(np.sqrt(1.6**2 + (tall / 2 + 0.2) ** 2 + wide**2))
    return Solid(distance, (bank * (face + 1.5), tall / 2, z), reach, surface)


def _cobbles(rng: np.random.Generator) -> Material:
    grime, tone = clouds(rng, knots=(4, 4), octaves=7, gain=0.65), rng.random((128, 128)).astype(np.float32)

    def surface(hit: Hit) -> Surface:
        row = np.floor(hit.z / 0.16)
        u = hit.x / 0.21 + 0.5 * np.mod(row, 2)
        fu, fv = np.mod(u, 1) - 0.5, np.mod(hit.z / 0.16, 1) - 0.5
        fade = smoothstep(0.06, 0.015, hit.wide)
        dome = np.clip(1 - (np.abs(fu) * 2) ** 4 - (np.abs(fv) * 2) ** 4, 0, 1)
        each = tone[row.astype(np.int64) % 128, np.floor(u).astype(np.int64) % 128]
        value = grime(hit.x * 0.3, hit.z * 0.3, hit.wide * 0.3)
        kerb = np.abs(np.abs(hit.x) - 1.0) < 0.06
        pavement = np.abs(hit.x) > 1.06
        stone = 0.55 + 0.45 * each + 0.25 * value
        stone = stone * (1 - fade * (1 - (0.35 + 0.65 * np.sqrt(dome))) * ~(kerb | pavement))
        colour = mix(fill(linear("4e4a46"), 1), fill(linear("a29a8e"), 1), np.clip(stone * 0.8, 0, 1))
        colour = np.where(kerb, fill(linear("b5ada0"), 1) * (1 + 0.15 * value), colour)
        bump = (hit.normal[0] + fade * 0.35 * fu**3 * 8, hit.normal[1], hit.normal[2] + fade * 0.35 * fv**3 * 8)
        return Surface(colour, gloss=0.04, rough=0.5, bump=bump)

    return surface


def _lamp_post(x: float, z: float) -> list[Solid]:
    iron = lambda hit: Surface(fill(linear("1c1f20"), hit.count), gloss=0.06, rough=0.4)  # noqa: E731
    post = Solid(
        lambda a, b, c: np.minimum(
            capsule(a, b, c, start=(x, 0, z), end=(x, 1.5, z), radii=(0.03, 0.018)),
            box(a, b, c, at=(x, 0.1, z), half=(0.05, 0.1, 0.05), round=0.02),
        ),
        (x, 0.75, z),
        0.82,
        iron,
    )
    glow = np.array([1.0, 0.85, 0.6], dtype=np.float32)
    lamp = Solid(
        lambda a, b, c: box(a, b, c, at=(x, 1.6, z), half=(0.06, 0.09, 0.06), round=0.02),
        (x, 1.6, z),
        0.13,
        lambda hit: Surface(
            fill(glow, hit.count) * 0.6, gloss=0.1, rough=0.1, glow=fill(glow * np.float32(0.25), hit.count)
        ),
    )
    return [post, lamp]


def _tree(rng: np.random.Generator, at: tuple[float, float]) -> list[Solid]:
    leaves = clouds(rng, knots=(14, 14), octaves=4, gain=0.7)
    green = hsv(float(rng.uniform(0.2, 0.3)), 0.6, 0.42)
    bark = lambda hit: Surface(fill(linear("4a3a2c"), hit.count), rough=0.9, gloss=0.01)  # noqa: E731
    solids = [
        Solid(
            lambda x, y, z: capsule(x, y, z, start=(at[0], 0, at[1]), end=(at[0], 1.4, at[1]), radii=(0.07, 0.04)),
            (at[0], 0.7, at[1]),
            0.8,
            bark,
        )
    ]
    for _ in range(6):
        centre = (
            at[0] + float(rng.normal(0, 0.25)),
            1.75 + float(rng.normal(0, 0.22)),
            at[1] + float(rng.normal(0, 0.25)),
        )
        size = float(rng.uniform(0.28, 0.42))
        solids.append(
            Solid(
                _crown(centre, size, leaves),
                centre,
                size * 1.35,
                _leafy(green * np.float32(rng.uniform(0.7, 1.2)), leaves),
                step=0.6,
            )
        )
    return solids


def _crown(centre: tuple[float, float, float], size: float, leaves: Texture) -> Distance:
    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        found: Plane = sphere(x, y, z, at=centre, radius=size) - 0.09 * leaves(x * 0.7 + z * 0.5, y * 0.7 - z * 0.3)
        return found

    return distance


def _leafy(tone: Plane, leaves: Texture) -> Material:
    def surface(hit: Hit) -> Surface:
        value = leaves(hit.x * 2 + hit.z, hit.y * 2, hit.wide * 2)
        return Surface(fill(tone, hit.count) * (0.75 + 0.6 * value), gloss=0.02, rough=0.6, soft=0.5)

    return surface
