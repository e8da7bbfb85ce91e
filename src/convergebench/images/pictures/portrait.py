"""Portraits: one person, head and shoulders, bare head, ears to be seen, in three kinds of light."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.backdrop import bokeh, interior, studio
from convergebench.images.pictures.colour import hsv, linear
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.garment import Garment
from convergebench.images.pictures.hair import Hair
from convergebench.images.pictures.head import EYE_RADIUS, EYE_X, EYE_Z, Features, almond, silhouette, skull
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.sheet import Colours, Plane, Sheet
from convergebench.images.pictures.skin import Complexion
from convergebench.images.pictures.solid import sphere, turn
from convergebench.images.pictures.strokes import Strokes
from convergebench.images.pictures.world import Hit, Lamp, Solid, Surface, Wall, World

HAIR = ("1a1210", "2b1a12", "4a2c18", "6e4524", "a07340", "c9a062", "7c2f18", "77706a", "12100f")
SCALE = 0.385


@dataclass(frozen=True)
class Pose:
    """Where the head is on the sheet and how it is turned (radians)."""

    x: float
    y: float
    yaw: float
    roll: float

    def enter(self, x: Plane, y: Plane, z: Plane) -> tuple[Plane, Plane, Plane]:
        """From the sheet's space to the head's."""
        x, y, z = (x - self.x) / SCALE, (y - self.y) / SCALE, z / SCALE
        x, y = turn(x, y, self.roll)
        x, z = turn(x, z, self.yaw)
        return x, y, z

    def leave(self, points: Plane) -> Plane:
        """From head coordinates (points × 3) to sheet x and y (down)."""
        x, _ = turn(points[:, 0], points[:, 2], -self.yaw)
        x, y = turn(x, points[:, 1], -self.roll)
        return np.stack([x * SCALE + self.x, -(y * SCALE + self.y)], axis=1)


@dataclass(frozen=True)
class Setting:
    """The light and what is behind."""

    lamps: Callable[[np.random.Generator], list[Lamp]]
    backdrop: Callable[[Sheet], Colours]
    sky: tuple[float, float, float]
    earth: tuple[float, float, float]
    exposure: float = 1.0


def draw_with(setting: Setting) -> Callable[[Sheet], Pixels]:
    """A portrait in that setting."""

    def draw(sheet: Sheet) -> Pixels:
        rng = sheet.random("person")
        pose = Pose(
            x=float(rng.uniform(-0.05, 0.05)),
            y=float(0.12 * sheet.bottom + rng.uniform(-0.015, 0.02)),
            yaw=float(rng.uniform(-0.2, 0.2)),
            roll=float(rng.uniform(-0.045, 0.045)),
        )
        features, person = Features.drawn(rng), Complexion.drawn(rng)
        hair_colour = linear(HAIR[rng.integers(len(HAIR))])
        if person.tone[1] < 0.2:
            hair_colour = linear(HAIR[int(rng.choice([0, 1, 2, 8]))])
        hair = Hair.drawn(rng, hair_colour)
        garment = Garment.drawn(rng)
        world = _world(sheet, setting, pose, features, person, hair, garment)
        camera = Camera(eye=(0, 0, 10), target=(0, 0, 0), zoom=1.0, flat=True)
        light = paint(sheet, world, camera)
        light = _details(sheet, light, pose, features, hair)
        return develop(light, sheet, exposure=setting.exposure, vignette=0.25)

    return draw


def _world(
    sheet: Sheet, setting: Setting, pose: Pose, f: Features, person: Complexion, hair: Hair, garment: Garment
) -> World:
    lamps = setting.lamps(sheet.random("lamps"))
    length = float(np.linalg.norm(lamps[0].towards))
    key = (lamps[0].towards[0] / length, lamps[0].towards[1] / length, lamps[0].towards[2] / length)
    backdrop = setting.backdrop(sheet)
    gaze = (0.16 * float(np.sin(pose.yaw)), 0.0)

    def inside(hit: Hit) -> tuple[Plane, Plane, Plane]:
        return pose.enter(hit.x, hit.y, hit.z)

    def behind(hit: Hit) -> Surface:
        columns = ((hit.x + sheet.right) * sheet.unit - 0.5).astype(np.float32).reshape(1, -1)
        rows = ((sheet.bottom - hit.y) * sheet.unit - 0.5).astype(np.float32).reshape(1, -1)
        glow = np.stack([_read(plane, columns, rows) for plane in backdrop])
        return Surface(np.zeros((3, hit.count), dtype=np.float32), gloss=0.0, glow=glow)

    def eyes(x: Plane, y: Plane, z: Plane) -> Plane:
        x, y, z = pose.enter(x, y, z)
        return sphere(np.abs(x), y, z, at=(EYE_X, 0, EYE_Z), radius=EYE_RADIUS) * np.float32(SCALE)

    def place(point: tuple[float, float, float]) -> tuple[float, float, float]:
        flat = pose.leave(np.array([point]))[0]
        return float(flat[0]), float(-flat[1]), point[2] * SCALE

    solids = [
        Solid(
            lambda *p: skull(f, *pose.enter(*p)) * np.float32(SCALE),
            place((0, -1.2, -0.3)),
            3.1 * SCALE,
            lambda h: person.surface(f, h, inside(h)),
            step=0.8,
            silhouette=lambda *p: silhouette(f, *pose.enter(*p)) * np.float32(SCALE),
        ),
        Solid(eyes, place((0, 0, EYE_Z)), 0.75 * SCALE, lambda h: person.eye(f, h, inside(h), gaze), casts=False),
        Solid(
            lambda *p: hair.distance(*pose.enter(*p)) * np.float32(SCALE),
            place((0, -0.2, -0.4)),
            2.9 * SCALE,
            lambda h: hair.surface(h, inside(h), key),
            step=0.7,
            silhouette=lambda *p: hair.volume(*pose.enter(*p)) * np.float32(SCALE),
        ),
        Solid(
            lambda *p: garment.distance(*pose.enter(*p)) * np.float32(SCALE),
            place((0, -3.1, -0.5)),
            2.6 * SCALE,
            lambda h: garment.surface(h, inside(h)),
            step=0.8,
        ),
    ]
    return World(
        solids=solids,
        walls=[Wall((0, 0, 1), -4.0, behind, shaded=False)],
        lamps=lamps,
        sky=np.array(setting.sky, dtype=np.float32),
        earth=np.array(setting.earth, dtype=np.float32),
        surroundings=lambda d, rough: np.stack([np.float32(s) * (0.6 + 0.4 * d[1]) for s in setting.sky]),
        hollow=0.085,
    )


def _read(plane: Plane, columns: Plane, rows: Plane) -> Plane:
    count = columns.shape[1]
    out = np.empty(count, dtype=np.float32)
    for first in range(0, count, 30000):
        part = slice(first, min(first + 30000, count))
        out[part] = cv2.remap(
            plane, columns[:, part], rows[:, part], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )[0]
    return out


def _details(sheet: Sheet, light: Colours, pose: Pose, f: Features, hair: Hair) -> Colours:
    """Brows, lashes and stray hairs, drawn stroke by stroke."""
    rng = sheet.random("strokes")
    dark = hair.colour * np.float32(0.55) * np.array([1.0, 0.9, 0.85], dtype=np.float32)
    brows = Strokes(sheet)
    for side in (-1.0, 1.0):
        for t in np.sort(rng.random(230)):
            base_y = 0.225 + 0.03 * f.brow + 0.075 * np.sin(np.pi * min(t * 0.8 + 0.1, 1)) - 0.05 * t * t
            thick = 0.04 * (1 - 0.65 * t) * (0.55 + 0.45 * min(1.0, t * 8))
            x0, y0 = 0.155 + 0.46 * t, base_y + rng.uniform(-1, 1) * thick
            lean = np.deg2rad(74 - 66 * t + rng.normal(0, 9))
            reach = rng.uniform(0.05, 0.085) * (1.05 - 0.4 * t)
            bend = np.array(
                [
                    [x0, y0, 0.8],
                    [x0 + 0.55 * reach * np.cos(lean), y0 + 0.55 * reach * np.sin(lean), 0.8],
                    [x0 + reach * np.cos(lean - 0.5), y0 + reach * np.sin(lean - 0.5) - 0.01 * t, 0.78 - 0.15 * t],
                ]
            )
            bend[:, 0] *= side
            brows.line(pose.leave(bend), 0.0055, rng.uniform(0.6, 1.0))
    lashes = Strokes(sheet)
    for side in (-1.0, 1.0):
        for rim in _rim(f):
            outward = (rim[0] - EYE_X) / f.eye_width
            upper = rim[1] > (rim[0] - EYE_X) * 0.07
            reach = (0.042 + 0.03 * outward if upper else 0.018) * rng.uniform(0.75, 1.1)
            lift = 0.75 if upper else -0.8
            path = np.array(
                [
                    [rim[0], rim[1], 0.76],
                    [rim[0] + 0.4 * outward * reach, rim[1] + lift * 0.4 * reach, 0.79],
                    [rim[0] + 0.95 * outward * reach, rim[1] + lift * reach, 0.80],
                ]
            )
            path[:, 0] *= side
            lashes.line(pose.leave(path), 0.0042 if upper else 0.0026, 0.85 if upper else 0.35)
        arc = np.array([(p[0] * side, p[1], 0.765) for p in _rim(f) if p[1] > (p[0] - EYE_X) * 0.07])
        lashes.line(pose.leave(arc[np.argsort(arc[:, 0])]), 0.009, 0.9)
    light = brows.over(light, dark)
    return lashes.over(light, np.array([0.012, 0.008, 0.006], dtype=np.float32))


def _rim(f: Features) -> list[tuple[float, float]]:
    """Points on the edge of the eye's opening."""
    points = []
    for angle in np.linspace(0, 2 * np.pi, 90, endpoint=False):
        reach = np.linspace(0, 0.3, 120)
        inside = almond(f, EYE_X + reach * np.cos(angle), reach * np.sin(angle)) < 0
        far = reach[np.nonzero(inside)[0][-1]] if inside.any() else 0.0
        points.append((float(EYE_X + far * np.cos(angle)), float(far * np.sin(angle))))
    return points


def _daylight(rng: np.random.Generator) -> list[Lamp]:
    side = float(rng.choice([-1, 1]))
    warm = np.array([1.0, 0.93, 0.84], dtype=np.float32)
    return [
        Lamp(warm * np.float32(1.9), towards=(side * 0.6, 0.75, 0.95), soft=0.45),
        Lamp(
            np.array([0.9, 0.95, 1.0], dtype=np.float32) * np.float32(0.9),
            towards=(-side * 1.0, 0.5, -0.55),
            soft=0.4,
            shadows=False,
        ),
    ]


def _studio(rng: np.random.Generator) -> list[Lamp]:
    side = float(rng.choice([-1, 1]))
    return [
        Lamp(np.array([1.0, 0.97, 0.93], dtype=np.float32) * np.float32(2.5), towards=(side * 0.8, 0.7, 0.7), soft=0.3),
        Lamp(
            hsv(rng.random(), 0.22, 1.0) * np.float32(1.1), towards=(-side * 1.0, 0.25, -0.3), soft=0.2, shadows=False
        ),
    ]


def _window(rng: np.random.Generator) -> list[Lamp]:
    side = float(rng.choice([-1, 1]))
    return [
        Lamp(
            np.array([0.93, 0.97, 1.0], dtype=np.float32) * np.float32(2.7), towards=(side * 1.0, 0.28, 0.42), soft=0.4
        )
    ]


SETTINGS: dict[str, Setting] = {
    "portrait": Setting(_daylight, bokeh, sky=(0.42, 0.45, 0.50), earth=(0.26, 0.22, 0.18), exposure=0.78),
    "portrait-studio": Setting(_studio, studio, sky=(0.22, 0.22, 0.24), earth=(0.14, 0.13, 0.13), exposure=0.85),
    "portrait-window": Setting(_window, interior, sky=(0.20, 0.19, 0.20), earth=(0.17, 0.13, 0.10), exposure=0.9),
}
