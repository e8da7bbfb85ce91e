"""A living room: sofa, low table, rug, window light; free floor on the left for a chair, in front for a ball."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, ramp, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.furniture import lamp_stand, low_table, plant, sofa
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.material import back_map, fill, planks, plaster, side_map
from convergebench.images.pictures.sheet import Plane, Sheet
from convergebench.images.pictures.solid import box
from convergebench.images.pictures.stage import sun_through, window_glow
from convergebench.images.pictures.texture import clouds, weave
from convergebench.images.pictures.world import Hit, Lamp, Material, Solid, Surface, Wall, World

WALLS = ("b9b3a6", "8f9c94", "a8aeb4", "c2ad98", "7f8a93", "c9c1a8")
FLOORS = (("5a3a22", "a87846"), ("3a261a", "7a5638"), ("7a5c3e", "c8a67a"))
LEFT, BACK = -2.6, -2.4
WINDOW = (-1.7, 0.1, 0.75, 2.25)


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("room")
    towards = (-0.9, float(rng.uniform(0.62, 0.85)), float(rng.uniform(-0.25, 0.2)))
    warm = np.array([1.0, rng.uniform(0.80, 0.92), rng.uniform(0.58, 0.78)], dtype=np.float32)
    wall = linear(WALLS[rng.integers(len(WALLS))])
    floor = FLOORS[rng.integers(len(FLOORS))]
    boards = planks(rng, (linear(floor[0]), linear(floor[1])), width=0.19, rough=0.3, gloss=0.05)
    hue = float(rng.random())
    world = World(
        solids=_furnished(sheet, hue),
        walls=[
            Wall((0, 1, 0), 0.0, _with_rug(boards, rng, hue)),
            Wall((0, 0, 1), BACK, _skirted(plaster(wall, rng, place=back_map, uneven=0.05))),
            Wall((1, 0, 0), LEFT, _windowed(plaster(wall * np.float32(0.9), rng, place=side_map, uneven=0.05))),
            Wall((0, -1, 0), -2.75, plaster(linear("d8d4cc"), rng, uneven=0.02)),
        ],
        lamps=[
            Lamp(
                warm * np.float32(7.5), towards=towards, soft=0.035, mask=sun_through(WINDOW, towards, axis=0, at=LEFT)
            ),
            Lamp(
                np.array([0.75, 0.85, 1.0], dtype=np.float32) * np.float32(0.30),
                at=(LEFT + 0.3, 1.5, -0.8),
                soft=0.5,
                reach=2.6,
            ),
        ],
        sky=np.array([0.34, 0.34, 0.35], dtype=np.float32),
        earth=np.array([0.26, 0.21, 0.16], dtype=np.float32),
        surroundings=window_glow(
            (-1, 0.35, 0.0), np.array([2.2, 2.3, 2.4], dtype=np.float32), np.array([0.16, 0.15, 0.14], dtype=np.float32)
        ),
        hollow=0.4,
    )
    camera = Camera(eye=(float(rng.uniform(0.1, 0.5)), 1.35, 4.4), target=(-0.1, 0.98, 0.0), zoom=2.15)
    return develop(paint(sheet, world, camera), sheet, exposure=1.2, vignette=0.25, glow=0.1)


def _furnished(sheet: Sheet, hue: float) -> list[Solid]:
    rng = sheet.random("furniture")
    colour = hsv(hue, rng.uniform(0.12, 0.42), rng.uniform(0.42, 0.75))
    cushion = hsv(hue + rng.uniform(0.3, 0.7), 0.55, 0.7)
    solids = [*sofa(rng, colour, cushion, at=(0.75, -1.55)), *low_table(rng, at=(0.55, -0.2))]
    solids.append(_picture(rng, at=(float(rng.uniform(0.3, 0.9)), 1.75)))
    if rng.random() < 0.7:
        solids.extend(plant(rng, at=(-1.45, -1.95)))
    solids.extend(lamp_stand(rng, at=(2.15, -1.75)))
    return solids


def _picture(rng: np.random.Generator, *, at: tuple[float, float]) -> Solid:
    """A framed abstract on the wall."""
    half = (float(rng.uniform(0.45, 0.62)), float(rng.uniform(0.32, 0.42)))
    field = clouds(rng, knots=(3, 3), octaves=6)
    stops = [
        (0.0, hsv(rng.random(), 0.5, 0.25)),
        (0.45, hsv(rng.random(), 0.5, 0.6)),
        (0.6, hsv(rng.random(), 0.35, 0.85)),
        (1.0, hsv(rng.random(), 0.6, 0.5)),
    ]

    def surface(hit: Hit) -> Surface:
        u, v = hit.x - np.float32(at[0]), hit.y - np.float32(at[1])
        edge = np.minimum(half[0] - np.abs(u), half[1] - np.abs(v))
        value = np.clip(0.5 + 0.5 * field(u * 0.6, v * 0.6, hit.wide) + 0.3 * v, 0, 1)
        colour = mix(fill(linear("1d1712"), 1), fill(linear("d6d0c2"), 1), smoothstep(0.035, 0.04, edge))
        colour = mix(colour, ramp(value, stops), smoothstep(0.10, 0.105, edge))
        return Surface(colour, gloss=0.03, rough=0.3)

    def distance(x: Plane, y: Plane, z: Plane) -> Plane:
        return box(x, y, z, at=(at[0], at[1], BACK + 0.03), half=(half[0], half[1], 0.03), round=0.008)

    return Solid(distance, (at[0], at[1], BACK), float(np.hypot(*half)) + 0.05, surface)


def _with_rug(boards: Material, rng: np.random.Generator, hue: float) -> Material:
    """Floor boards with a rug on them."""
    base, line = hsv(hue + 0.45, rng.uniform(0.1, 0.35), 0.6), hsv(hue + 0.05, 0.25, 0.85)
    pile, wool = weave(64), clouds(rng, knots=(40, 40), octaves=3, gain=0.8)
    centre, half = (0.5, -0.25), (1.25, 0.85)

    def surface(hit: Hit) -> Surface:
        wood = boards(hit)
        u, v = hit.x - np.float32(centre[0]), hit.z - np.float32(centre[1])
        edge = np.minimum(half[0] - np.abs(u), half[1] - np.abs(v))
        on = smoothstep(0.0, 0.012, edge)
        bands = smoothstep(0.012, 0.0, np.abs(edge - 0.10) - 0.02) + smoothstep(0.012, 0.0, np.abs(edge - 0.2) - 0.008)
        diamond = np.abs(np.mod(u + 0.2, 0.4) - 0.2) + np.abs(np.mod(v + 0.2, 0.4) - 0.2)
        bands = bands + smoothstep(0.012, 0.0, np.abs(diamond - 0.15) - 0.012) * (edge > 0.25)
        tone = 0.6 + 0.3 * pile(u * 1.2, v * 1.2, hit.wide * 1.2) + 0.16 * wool(u, v, hit.wide)
        rug = mix(fill(base, 1), fill(line, 1), np.clip(bands, 0, 1)) * tone
        colour = mix(wood.colour, rug, on)
        return Surface(
            colour, gloss=np.asarray(wood.gloss) * (1 - 0.9 * on), rough=np.asarray(wood.rough) * (1 - on) + 0.9 * on
        )

    return surface


def _skirted(wall: Material) -> Material:
    """A wall with a skirting board."""

    def surface(hit: Hit) -> Surface:
        made = wall(hit)
        board = smoothstep(0.125, 0.115, hit.y)
        groove = np.exp(-np.square((hit.y - 0.12) / 0.008)) + 0.7 * np.exp(-np.square((hit.y - 0.095) / 0.005))
        made.colour = mix(made.colour, fill(linear("d2cec4"), 1), board) * (1 - 0.45 * groove)
        return made

    return surface


def _windowed(wall: Material) -> Material:
    """A wall with a bright window in it."""
    low_z, high_z, low_y, high_y = WINDOW

    def surface(hit: Hit) -> Surface:
        made = _skirted(wall)(hit)
        inside = np.minimum(np.minimum(hit.z - low_z, high_z - hit.z), np.minimum(hit.y - low_y, high_y - hit.y))
        frame = smoothstep(-0.09, -0.08, inside)
        middle = np.minimum(np.abs(hit.z - (low_z + high_z) / 2), np.abs(hit.y - (low_y + high_y) / 2))
        pane = smoothstep(0.0, 0.012, inside) * smoothstep(0.028, 0.036, middle)
        made.colour = mix(made.colour, fill(linear("e4e0d8"), 1), frame) * (1 - pane)
        height = (hit.y - low_y) / (high_y - low_y)
        view = ramp(
            np.clip(height, 0, 1),
            [(0.0, linear("9fb08a")), (0.3, linear("cfd8c4")), (0.55, linear("e6ecf2")), (1.0, linear("bcd4ee"))],
        )
        made.glow = view * (pane * np.float32(3.2))
        return made

    return surface
