"""Painted letter blocks."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.furniture import moved
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.material import fill, plain
from convergebench.images.pictures.sheet import Plane, Sheet
from convergebench.images.pictures.solid import box, sphere
from convergebench.images.pictures.tabletop import set_table
from convergebench.images.pictures.texture import Texture, clouds
from convergebench.images.pictures.world import Hit, Material, Solid, Surface


def draw(sheet: Sheet) -> Pixels:
    """A tower of painted letter blocks."""
    rng = sheet.random("blocks")
    letters = rng.permutation(list("ABCDEFGHKLMNPRSTUXYZ"))
    half = 0.26
    places = [
        (-0.62, 0, 0.1),
        (-0.05, 0, -0.1),
        (0.55, 0, 0.15),
        (-0.34, 1, 0.0),
        (0.26, 1, 0.02),
        (-0.02, 2, 0.0),
        (0.98, 0, 0.65),
        (-1.05, 0, 0.6),
    ]
    solids = []
    for number, (x, level, z) in enumerate(places):
        turned = float(rng.uniform(-0.3, 0.3)) if level else float(rng.uniform(-0.6, 0.6))
        spot = (x + float(rng.uniform(-0.03, 0.03)), z)
        height = half + 2 * half * level
        material = _lettered(rng, str(letters[number]), spot, height, turned, half)
        shape = moved(_cube(half, height), spot, turned)
        solids.append(Solid(shape, (spot[0], height, spot[1]), half * 1.75, material))
    ball = float(rng.uniform(0.17, 0.22))
    spot = (float(rng.choice([-0.3, 0.35])), 0.85)
    solids.append(
        Solid(
            lambda x, y, z: sphere(x, y, z, at=(spot[0], ball, spot[1]), radius=ball),
            (spot[0], ball, spot[1]),
            ball * 1.05,
            plain(hsv(rng.random(), 0.75, 0.7), rough=0.15, gloss=0.05),
        )
    )
    world = set_table(sheet, solids)
    camera = Camera(eye=(float(rng.uniform(-0.8, 0.8)), 1.6, 4.8), target=(0, 0.62, 0), zoom=3.0)
    return develop(paint(sheet, world, camera), sheet, exposure=0.85, vignette=0.3)


def _cube(half: float, height: float) -> Callable[[Plane, Plane, Plane], Plane]:
    return lambda x, y, z: box(x, y, z, at=(0, height, 0), half=(half, half, half), round=0.03)


def _lettered(
    rng: np.random.Generator, letter: str, spot: tuple[float, float], height: float, turned: float, half: float
) -> Material:
    """Pale wood with a painted frame and letter on each side."""
    paint_colour = hsv(rng.random(), rng.uniform(0.6, 0.85), rng.uniform(0.55, 0.8))
    tile = np.zeros((512, 512), dtype=np.uint8)
    size = cv2.getTextSize(letter, cv2.FONT_HERSHEY_DUPLEX, 11, 40)[0]
    cv2.putText(
        tile, letter, (256 - size[0] // 2, 256 + size[1] // 2), cv2.FONT_HERSHEY_DUPLEX, 11, 255, 40, cv2.LINE_AA
    )
    sign = Texture(tile.astype(np.float32) / 255)
    grain, wear = clouds(rng, knots=(48, 3), octaves=4, gain=0.7), clouds(rng, knots=(5, 5), octaves=6, gain=0.7)

    def surface(hit: Hit) -> Surface:
        c, s = np.float32(np.cos(turned)), np.float32(np.sin(turned))
        x, z = (hit.x - spot[0]) * c + (hit.z - spot[1]) * s, (hit.z - spot[1]) * c - (hit.x - spot[0]) * s
        y = hit.y - np.float32(height)
        nx, nz = np.abs(hit.normal[0] * c + hit.normal[2] * s), np.abs(hit.normal[2] * c - hit.normal[0] * s)
        front = nz > np.maximum(nx, np.abs(hit.normal[1]))
        top = np.abs(hit.normal[1]) > np.maximum(nx, nz)
        facing_x = np.sign(hit.normal[0] * c + hit.normal[2] * s)
        u = np.where(front | top, x, -z * facing_x)
        v = np.where(top, z, -y)
        edge = np.maximum(np.abs(u), np.abs(v))
        frame = smoothstep(0.008, 0.0, np.abs(edge - half * 0.76) - 0.018)
        mark = sign(u / (2 * half) + 0.5, v / (2 * half) + 0.5, hit.wide / (2 * half))
        worn = smoothstep(-0.75, -0.45, wear(u, v, hit.wide))
        lines = grain(u * 1.5, v * 0.5, hit.wide * 1.5)
        wood = mix(fill(linear("b98a55"), 1), fill(linear("e6c595"), 1), np.clip(0.55 + 0.4 * lines, 0, 1))
        cover = np.clip(frame + mark, 0, 1) * worn
        return Surface(mix(wood, fill(paint_colour, 1) * (1 + 0.08 * lines), cover), gloss=0.035, rough=0.4)

    return surface
