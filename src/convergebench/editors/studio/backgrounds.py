"""Painted scenes to stand behind a person or a thing. They are gradients, shapes and noise, not photographs."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.instructions.vocabulary import Colour
from convergebench.editors.simulated.pixels import Pixels
from convergebench.editors.studio.answer import StudioAnswer, mixed
from convergebench.editors.studio.scene import StudioScene, soft
from convergebench.editors.studio.task import StudioTask
from convergebench.editors.studio.tones import cv2_pixels, grain
from convergebench.vision.networks import Mask

Shape = tuple[int, int]


def new_background(scene: StudioScene, task: StudioTask, random: np.random.Generator) -> StudioAnswer:
    """The subject in front of another scene."""
    subject = _in_front(scene, task)
    painted = SCENES[task.variant](scene.shape, random, task.colour)
    far = cv2.GaussianBlur(painted, (0, 0), max(0.6, 0.004 * max(scene.shape)))  # out of focus, as behind a subject
    textured = np.clip(np.asarray(far, np.float32) + grain(scene.shape, random, 2.0)[..., None], 0, 255)
    keep = soft(subject, 1.4)
    return StudioAnswer(mixed(cv2_pixels(textured), scene.pixels, keep), ~subject, {"scene": task.variant})


def _in_front(scene: StudioScene, task: StudioTask) -> Mask:
    if task.target in ("", "main", "it", "person"):
        return scene.subject()
    return scene.thing(task.target)[0]


def _beach(shape: Shape, random: np.random.Generator, colour: Colour | None) -> Pixels:
    height, _width = shape
    picture = _banded(
        shape,
        (
            (0, (120, 180, 232)),
            (0.42, (206, 228, 240)),
            (0.43, (34, 122, 156)),
            (0.62, (92, 190, 196)),
            (0.66, (236, 240, 232)),
            (0.69, (232, 214, 172)),
            (1, (214, 188, 140)),
        ),
    )
    rows = np.linspace(0, 1, height)[:, None]
    waves = _cloudy(shape, random, (40, 4)) * 26 * ((rows > 0.43) & (rows < 0.66))
    sand = random.standard_normal(shape) * 6 * (rows > 0.69)
    return cv2_pixels(np.clip(_with_clouds(picture, random, 0.42) + (waves + sand)[..., None], 0, 255))


def _mountains(shape: Shape, random: np.random.Generator, colour: Colour | None) -> Pixels:
    picture = _with_clouds(
        _banded(shape, ((0, (96, 154, 214)), (0.7, (222, 232, 240)), (1, (222, 232, 240)))), random, 0.5
    )
    for base, rise, tone in ((0.5, 0.24, (138, 154, 180)), (0.62, 0.2, (96, 114, 132)), (0.78, 0.14, (58, 84, 62))):
        picture = _ridge(picture, random, base, rise, tone, snow=base < 0.6)
    return cv2_pixels(np.clip(picture, 0, 255))


def _city(shape: Shape, random: np.random.Generator, colour: Colour | None) -> Pixels:
    """A skyline at dusk with lit windows."""
    height, width = shape
    picture = _banded(shape, ((0, (26, 30, 66)), (0.55, (168, 98, 116)), (0.75, (246, 170, 110)), (1, (40, 36, 56))))
    for depth in (0, 1):
        left = 0.0
        while left < width:
            across = random.uniform(0.06, 0.13) * width
            top = random.uniform(0.18 + 0.15 * depth, 0.55) * height
            tone = np.array((52, 50, 84) if depth == 0 else (24, 24, 42), np.float32)
            box = slice(int(top), height), slice(int(left), int(left + across) + 1)
            picture[box] = tone
            _windows(picture, box, random, 0.014 * max(shape))
            left += across * 1.02
    return cv2_pixels(np.clip(picture, 0, 255))


def _forest(shape: Shape, random: np.random.Generator, colour: Colour | None) -> Pixels:
    height, width = shape
    picture = _banded(shape, ((0, (172, 200, 160)), (0.5, (126, 166, 106)), (0.78, (74, 116, 58)), (1, (56, 84, 40))))
    for _ in range(9):
        x, wide = random.uniform(0, width), random.uniform(0.015, 0.04) * width
        tone = np.array((74, 60, 46)) * random.uniform(0.7, 1.2)
        cv2.rectangle(picture, (round(x), 0), (round(x + wide), round(0.84 * height)), tone.tolist(), -1)
    for _ in range(260):
        middle = round(random.uniform(0, width)), round(abs(random.normal(0, 0.26)) * height)
        tone = np.array((86, 138, 60)) * random.uniform(0.6, 1.35)
        cv2.circle(picture, middle, round(random.uniform(0.02, 0.06) * max(shape)), tone.tolist(), -1, cv2.LINE_AA)
    return cv2_pixels(np.clip(picture + (_cloudy(shape, random, (24, 24)) * 22)[..., None], 0, 255))


def _studio(shape: Shape, random: np.random.Generator, colour: Colour | None) -> Pixels:
    """A paper roll: lighter in the middle."""
    tone = np.array(colour or (176, 182, 190), np.float32)
    across, down = np.meshgrid(np.linspace(-1, 1, shape[1]), np.linspace(-1, 1, shape[0]))
    light = 0.62 + 0.5 * np.exp(-((across / 0.9) ** 2) - ((down + 0.15) / 0.95) ** 2)
    return cv2_pixels(np.clip(tone * light[..., None], 0, 255))


def _space(shape: Shape, random: np.random.Generator, colour: Colour | None) -> Pixels:
    glow = np.clip(_cloudy(shape, random, (5, 5)), 0, None)[..., None]
    picture = np.array((8, 8, 22), np.float32) + glow * np.array((70, 34, 96), np.float32)
    stars = np.zeros(shape, np.float32)
    for _ in range(round(0.004 * shape[0] * shape[1])):
        stars[int(random.integers(shape[0])), int(random.integers(shape[1]))] = random.uniform(90, 255)
    return cv2_pixels(
        np.clip(picture + np.maximum(stars, 2.2 * cv2.GaussianBlur(stars, (0, 0), 0.9))[..., None], 0, 255)
    )


def _desert(shape: Shape, random: np.random.Generator, colour: Colour | None) -> Pixels:
    picture = _banded(shape, ((0, (92, 152, 214)), (0.55, (232, 214, 186)), (1, (232, 214, 186))))
    for base, rise, tone in ((0.56, 0.07, (226, 178, 118)), (0.7, 0.08, (208, 150, 90)), (0.86, 0.08, (188, 126, 70))):
        picture = _ridge(picture, random, base, rise, tone, smooth=True)
    return cv2_pixels(np.clip(picture + (random.standard_normal(shape) * 3)[..., None], 0, 255))


SCENES: dict[str, Callable[[Shape, np.random.Generator, Colour | None], Pixels]] = {
    "beach": _beach,
    "mountains": _mountains,
    "city": _city,
    "forest": _forest,
    "studio": _studio,
    "space": _space,
    "desert": _desert,
}

Canvas = NDArray[np.float32]


def _banded(shape: Shape, stops: tuple[tuple[float, Colour], ...]) -> Canvas:
    """A gradient from top to bottom through these colours."""
    rows = np.linspace(0, 1, shape[0])
    places = [place for place, _ in stops]
    planes = [np.interp(rows, places, [colour[part] for _, colour in stops]) for part in range(3)]
    return np.repeat(np.stack(planes, axis=-1)[:, None], shape[1], axis=1).astype(np.float32)


def _cloudy(shape: Shape, random: np.random.Generator, cells: tuple[int, int]) -> Canvas:
    """Smooth noise in several sizes, about −1 … 1; `cells` down and across."""
    total = np.zeros(shape, np.float32)
    for octave in range(4):
        size = cells[0] << octave, cells[1] << octave
        noise = random.standard_normal(size).astype(np.float32)
        total += cv2.resize(noise, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC) / 2**octave
    return total / 1.6


def _with_clouds(picture: Canvas, random: np.random.Generator, horizon: float) -> Canvas:
    shape = picture.shape[0], picture.shape[1]
    above = np.clip((horizon - np.linspace(0, 1, shape[0])) / horizon, 0, 1)[:, None]
    cover = np.clip(_cloudy(shape, random, (5, 3)) - 0.15, 0, 1) * np.sqrt(above)
    return np.asarray(
        picture + (np.array((248, 249, 250), np.float32) - picture) * np.clip(cover, 0, 0.9)[..., None], np.float32
    )


def _ridge(
    picture: Canvas,
    random: np.random.Generator,
    base: float,
    rise: float,
    tone: Colour,
    *,
    snow: bool = False,
    smooth: bool = False,
) -> Canvas:
    height, width = picture.shape[:2]
    line = np.zeros(width)
    for octave in range(1 if smooth else 5):
        points = random.standard_normal(4 * 2**octave + 1)
        line += np.interp(np.linspace(0, 1, width), np.linspace(0, 1, points.size), points) / 1.9**octave
    if smooth:
        line = np.asarray(cv2.GaussianBlur(line.astype(np.float32)[None], (0, 0), 0.07 * width)[0], np.float64)
    top = (base - rise * (line - line.min()) / max(1e-6, float(np.ptp(line))) * 1.0) * height
    rows = np.arange(height)[:, None]
    inside = rows >= top[None]
    depth = np.clip((rows - top[None]) / (0.25 * height), 0, 1)
    shade = _cloudy((height, width), random, (12, 12)) * 9
    ground = np.array(tone, np.float32) * (1.08 - 0.22 * depth[..., None]) + shade[..., None]
    if snow:
        cap = np.clip(1 - (rows - top[None]) / (0.09 * height) + 0.5 * shade / 9, 0, 1)
        ground = ground + (np.array((240, 244, 250), np.float32) - ground) * cap[..., None]
    return np.asarray(np.where(inside[..., None], ground, picture), np.float32)


def _windows(picture: Canvas, box: tuple[slice, slice], random: np.random.Generator, step: float) -> None:
    pane = max(1, round(0.4 * step))
    for row in np.arange(box[0].start + step, box[0].stop, step):
        for column in np.arange(box[1].start + step, box[1].stop - step, step):
            if random.random() < 0.35:
                picture[int(row) : int(row) + pane, int(column) : int(column) + pane] = (250, 214, 132)
