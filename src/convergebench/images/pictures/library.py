"""The interior of an old library: deep shadows, shafts of light, thousands of spines."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.bookcase import posts, shelves, tables
from convergebench.images.pictures.colour import linear, mix, ramp, smoothstep, tint
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.material import fill, planks, plaster, side_map
from convergebench.images.pictures.noise import fractal, soften
from convergebench.images.pictures.sheet import SHIFT, Colours, Plane, Sheet
from convergebench.images.pictures.stage import Mask, project, window_glow
from convergebench.images.pictures.world import Hit, Lamp, Material, Surface, Wall, World

HALF, BACK, HIGH = 2.1, -6.0, 4.4
WINDOWS = ((-1.15, 0.42), (0.0, 0.42), (1.15, 0.42))


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("library")
    lean = float(rng.choice([-1, 1]) * rng.uniform(0.25, 0.5))
    towards = (lean, float(rng.uniform(0.75, 0.95)), -1.0)
    warm = np.array([1.0, rng.uniform(0.70, 0.82), rng.uniform(0.38, 0.55)], dtype=np.float32)
    wood = (linear("1e100a"), linear("5a341c"))
    cases = [shelves(rng, side_map, wood), shelves(rng, side_map, wood)]
    world = World(
        solids=[*tables(rng, wood), *posts(rng, wood, half=HALF, high=HIGH)],
        walls=[
            Wall((0, 1, 0), 0.0, planks(rng, (linear("2a170d"), linear("7a4a28")), width=0.22, rough=0.34, gloss=0.03)),
            Wall((1, 0, 0), -HALF, cases[0]),
            Wall((-1, 0, 0), -HALF, cases[1]),
            Wall((0, 0, 1), BACK, _gable(rng, warm)),
            Wall(
                (0, -1, 0), -HIGH, planks(rng, (linear("160d08"), linear("3a2416")), width=0.5, turned=True, rough=0.6)
            ),
        ],
        lamps=[Lamp(warm * np.float32(4.2), towards=towards, soft=0.03, mask=_arches(towards))],
        sky=np.array([0.17, 0.155, 0.15], dtype=np.float32),
        earth=np.array([0.16, 0.105, 0.06], dtype=np.float32),
        surroundings=window_glow((0, 0.25, -1), warm * np.float32(3), np.array([0.03, 0.025, 0.02], dtype=np.float32)),
        hollow=0.5,
    )
    camera = Camera(eye=(float(rng.uniform(-0.5, 0.5)), 1.3, 4.6), target=(0.0, 1.65, BACK), zoom=1.75)
    light = paint(sheet, world, camera)
    light = light + _shafts(sheet, camera, towards, warm)
    return develop(light, sheet, exposure=1.2, vignette=0.35, glow=0.14)


def _arch(u: Plane, v: Plane, centre: float, half: float) -> Plane:
    """Depth inside a tall arched window (negative outside)."""
    spring = 2.9
    straight = np.minimum(half - np.abs(u - centre), v - 0.95)
    round_ = half - np.sqrt(np.square(u - centre) + np.square(np.maximum(v - spring, 0)))
    found: Plane = np.where(v > spring, round_, straight)
    return found


def _arches(towards: tuple[float, float, float]) -> Mask:
    def mask(x: Plane, y: Plane, z: Plane) -> Plane:
        far = (np.float32(BACK) - z) / np.float32(towards[2])
        u, v = x + far * np.float32(towards[0]), y + far * np.float32(towards[1])
        soft = np.float32(0.02) + far * np.float32(0.03)
        seen = np.zeros_like(x)
        for centre, half in WINDOWS:
            seen = np.maximum(seen, np.clip(_arch(u, v, centre, half) / soft + 0.5, 0, 1))
        bars = np.clip((np.abs(np.mod(v, 0.42) - 0.21) - 0.02) / soft + 0.5, 0, 1)
        return seen * bars * (far > 0)

    return mask


def _gable(rng: np.random.Generator, warm: Plane) -> Material:
    stone = plaster(linear("5a4a3a"), rng, uneven=0.15)

    def surface(hit: Hit) -> Surface:
        made = stone(hit)
        glow = np.zeros(hit.count, dtype=np.float32)
        for centre, half in WINDOWS:
            depth = _arch(hit.x, hit.y, centre, half)
            frame = smoothstep(-0.08, -0.06, depth)
            made.colour = mix(made.colour, fill(linear("2a1a10"), 1), frame)
            bars = smoothstep(0.012, 0.02, np.minimum(np.abs(np.mod(hit.y, 0.42) - 0.21), np.abs(hit.x - centre)))
            glow = np.maximum(glow, smoothstep(0.0, 0.015, depth) * bars)
        height = np.clip((hit.y - 0.9) / 2.6, 0, 1)
        made.glow = (
            ramp(
                height,
                [
                    (0.0, warm * np.float32(2.2)),
                    (0.6, warm * np.float32(3.0)),
                    (1.0, np.array([2.6, 2.9, 3.2], dtype=np.float32)),
                ],
            )
            * glow
        )
        made.colour = made.colour * (1 - glow)
        return made

    return surface


def _shafts(sheet: Sheet, camera: Camera, towards: tuple[float, float, float], warm: Plane) -> Colours:
    """Beams from each window to the floor, made visible by dust."""
    beam = np.zeros((sheet.height, sheet.width), dtype=np.float32)
    for centre, half in WINDOWS:
        layer = np.zeros((sheet.height, sheet.width), dtype=np.uint8)
        for low, high in ((0.95, 1.6), (1.6, 2.3), (2.3, 3.2)):
            corners = []
            for u in (centre - half, centre + half):
                for v in (low, high):
                    for reach in (0.0, min(v / towards[1], 7.5)):
                        point = (u - towards[0] * reach, max(v - towards[1] * reach, 0.0), BACK - towards[2] * reach)
                        corners.append(project(camera, point))
            hull = cv2.convexHull(sheet.fixed(np.array(corners)))
            part = np.zeros_like(layer)
            cv2.fillConvexPoly(part, hull, 60, cv2.LINE_AA, SHIFT)
            np.add(layer, part, out=layer)
        beam += soften(layer.astype(np.float32) / 255, 0.012 * sheet.unit)
    dust = (
        0.85
        + 0.35 * fractal(sheet, "dust", 1.8, octaves=6, gain=0.55)
        + 0.10 * fractal(sheet, "motes", 40.0, octaves=4, gain=1.0)
    )
    fade = smoothstep(sheet.bottom * 1.1, -0.4, sheet.y)
    return tint(warm, beam * np.clip(dust, 0, 2) * (0.25 + 0.75 * fade) * np.float32(0.42))
