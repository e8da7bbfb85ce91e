"""The furniture of a library: shelves full of books, reading tables, posts."""

from __future__ import annotations

import numpy as np

from convergebench.images.pictures.colour import hsv, linear, mix, smoothstep
from convergebench.images.pictures.material import Mapping, fill, planks, side_map
from convergebench.images.pictures.sheet import Plane
from convergebench.images.pictures.solid import box, capsule, cylinder
from convergebench.images.pictures.texture import clouds
from convergebench.images.pictures.world import Distance, Hit, Material, Solid, Surface, dot


def shelves(rng: np.random.Generator, place: Mapping, wood: tuple[Plane, Plane]) -> Material:
    """Bookcases: uprights, boards, and spines of many widths, heights and bindings."""
    edges = np.cumsum(rng.uniform(0.035, 0.085, 4000))
    hue = rng.choice([0.02, 0.05, 0.08, 0.1, 0.35, 0.58, 0.95], 4000) + rng.normal(0, 0.01, 4000)
    codes = np.stack(
        [
            hsv(float(h), float(s), float(v))
            for h, s, v in zip(hue, rng.uniform(0.35, 0.75, 4000), rng.uniform(0.18, 0.6, 4000), strict=True)
        ]
    )
    tall, gilt, grain = (
        rng.uniform(0.6, 0.93, 4000).astype(np.float32),
        rng.random(4000),
        clouds(rng, knots=(48, 3), octaves=4, gain=0.7),
    )
    shelf, case = 0.40, 1.15

    def surface(hit: Hit) -> Surface:
        u, v = place(hit)
        # seen at a slant, a pixel covers more of the shelf's length than of its height
        long = hit.wide / np.clip(np.abs(dot(hit.normal, hit.view)), 0.08, 1.0)
        row = np.floor(v / shelf)
        soft = np.maximum(hit.wide, 0.003)
        fv = v - row * np.float32(shelf)
        along = np.mod(u + 20 + row * 13.7, edges[-1] - 1)
        book = np.searchsorted(edges, along).astype(np.int64)
        low, high = edges[np.maximum(book - 1, 0)], edges[book]
        across = np.clip((along - low) / (high - low), 0, 1).astype(np.float32)
        level = tall[book] + (np.float32(0.78) - tall[book]) * smoothstep(0.03, 0.13, long)
        top = level * np.float32(shelf - 0.05) + np.float32(0.03)
        on_book = np.clip((top - fv) / soft, 0, 1)
        roundness = np.sqrt(np.clip(1 - np.square(2 * across - 1), 0.04, 1))
        leather = 0.75 + 0.35 * grain(across * 0.2 + book * 0.13, v * 2, hit.wide)
        colour = codes[book].T.astype(np.float32) * (roundness * leather)
        ribs = smoothstep(0.3, 0.8, np.cos((fv / top) * 38)) * (gilt[book] > 0.45) * smoothstep(0.012, 0.004, hit.wide)
        label = (np.abs(fv / top - 0.68) < 0.08) * (gilt[book] > 0.3)
        colour = mix(
            colour, fill(linear("a8843c"), 1), (0.5 * ribs + 0.55 * label * (np.mod(fv * 70, 1) > 0.45)) * roundness
        )
        far = smoothstep(0.03, 0.13, long)
        colour = mix(colour, fill(codes.mean(axis=0) * np.float32(0.75), 1), far)
        colour = colour * on_book + fill(linear("0a0604"), 1) * (1 - on_book)
        board = np.clip((0.03 - fv) / soft + 0.5, 0, 1)
        fu = np.mod(u, case)
        post = np.clip((0.055 - np.minimum(fu, case - fu)) / np.maximum(long, 0.003) + 0.5, 0, 1)
        timber = mix(fill(wood[0], 1), fill(wood[1], 1), np.clip(0.5 + 0.5 * grain(u, v * 0.5, hit.wide), 0, 1))
        solid = np.maximum(board, post) * (row < 9)
        colour = mix(colour, timber, solid)
        n = hit.normal
        bend = (2 * across - 1) * on_book * (1 - solid) * (1 - far) * np.float32(0.7)
        shade = np.clip(0.45 + 1.4 * fv / shelf, 0, 1) * 0.5 + 0.5 * np.clip((shelf - fv) / 0.12, 0.25, 1)
        return Surface(colour * shade, gloss=0.015, rough=0.6, bump=(n[0], n[1], n[2] + bend * np.sign(n[0])))

    return surface


def tables(rng: np.random.Generator, wood: tuple[Plane, Plane]) -> list[Solid]:
    """Two reading tables with books and lamps."""
    timber = planks(rng, (wood[0] * np.float32(1.5), wood[1] * np.float32(1.4)), width=0.3, rough=0.2, gloss=0.07)
    solids = []
    for z in (1.2, -1.6):

        def shape(x: Plane, y: Plane, z_: Plane, z: float = z) -> Plane:
            top = box(x, y, z_, at=(0, 0.74, z), half=(0.62, 0.035, 0.95), round=0.012)
            legs = box(np.abs(x), y, np.abs(z_ - z), at=(0.52, 0.36, 0.82), half=(0.045, 0.36, 0.045), round=0.012)
            return np.minimum(top, legs)

        solids.append(Solid(shape, (0, 0.4, z), 1.25, timber))
        for _ in range(3):
            spot = (float(rng.uniform(-0.4, 0.4)), float(z + rng.uniform(-0.7, 0.7)))
            solids.append(_volume(rng, spot))
        solids.extend(_reading_lamp((0.0, z)))
    return solids


def _volume(rng: np.random.Generator, spot: tuple[float, float]) -> Solid:
    half, tone = (
        (float(rng.uniform(0.08, 0.12)), float(rng.uniform(0.015, 0.04)), float(rng.uniform(0.1, 0.15))),
        hsv(rng.choice([0.02, 0.08, 0.6, 0.35]), 0.6, 0.35),
    )

    def surface(hit: Hit) -> Surface:
        pages = np.abs(hit.normal[0]) > 0.7
        lines = 0.75 + 0.2 * np.sin(hit.y * 700)
        return Surface(np.where(pages, fill(linear("cdbf9c"), 1) * lines, fill(tone, 1)), gloss=0.03, rough=0.5)

    return Solid(
        lambda x, y, z: box(x, y, z, at=(spot[0], 0.775 + half[1], spot[1]), half=half, round=0.006),
        (spot[0], 0.78, spot[1]),
        0.24,
        surface,
    )


def _reading_lamp(spot: tuple[float, float]) -> list[Solid]:
    brass = lambda hit: Surface(fill(linear("8a6a2c"), hit.count), gloss=0.35, rough=0.25)  # noqa: E731
    green = np.array([0.10, 0.42, 0.16], dtype=np.float32)
    stand = Solid(
        lambda x, y, z: np.minimum(
            capsule(x, y, z, start=(spot[0], 0.78, spot[1]), end=(spot[0], 1.05, spot[1]), radii=(0.012, 0.01)),
            cylinder(x, y, z, at=(spot[0], 0.785, spot[1]), radius=0.07, half=0.012, round=0.006),
        ),
        (spot[0], 0.9, spot[1]),
        0.2,
        brass,
    )
    shade = Solid(
        lambda x, y, z: capsule(
            x, y, z, start=(spot[0] - 0.1, 1.07, spot[1]), end=(spot[0] + 0.1, 1.07, spot[1]), radii=(0.05, 0.05)
        ),
        (spot[0], 1.07, spot[1]),
        0.17,
        lambda hit: Surface(
            fill(green, hit.count), gloss=0.08, rough=0.15, glow=fill(np.array([0.35, 0.9, 0.35]) * 0.3, hit.count)
        ),
    )
    return [stand, shade]


def posts(rng: np.random.Generator, wood: tuple[Plane, Plane], *, half: float, high: float) -> list[Solid]:
    """Posts between the bookcases, `half` the room apart."""
    timber = planks(rng, wood, width=0.5, place=side_map, rough=0.3)
    found = []
    for z in (2.0, -1.0, -4.0):
        for side in (-1.0, 1.0):
            found.append(
                Solid(_post(side * (half - 0.1), z, high), (side * (half - 0.1), high / 2, z), high / 2 + 0.15, timber)
            )
    return found


def _post(x0: float, z0: float, high: float) -> Distance:
    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        shaft = box(x, y, z, at=(x0, high / 2, z0), half=(0.09, high / 2, 0.09), round=0.02)
        base = box(x, y, z, at=(x0, 0.12, z0), half=(0.13, 0.12, 0.13), round=0.02)
        head = box(x, y, z, at=(x0, high - 0.6, z0), half=(0.13, 0.06, 0.13), round=0.02)
        return np.minimum(shaft, np.minimum(base, head))

    return distance
