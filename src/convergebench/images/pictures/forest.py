"""A misty forest: trunks and branches that fade into haze, low contrast everywhere."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import linear, mix, smoothstep
from convergebench.images.pictures.conifers import blurred, spruce
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.noise import fractal, profile
from convergebench.images.pictures.sheet import Colours, Sheet
from convergebench.images.pictures.strokes import Strokes

HAZES = ("c3ccc8", "c8c8be", "b8c4cc", "cfc4b4", "aebbb4")
LAYERS = 7


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("forest")
    haze = linear(HAZES[rng.integers(len(HAZES))])
    glow_x = float(rng.uniform(-0.7, 0.7))
    glow = np.exp(-(np.square(sheet.x - glow_x) + np.square(sheet.y + 0.55)) * 0.8)
    light = haze[:, None, None] * (0.62 + 0.42 * glow)
    drift = fractal(sheet, "drift", 0.9, octaves=6, gain=0.5, stretch=(0.7, 2.0))
    bark = fractal(sheet, "bark", 9.0, octaves=6, gain=0.75, stretch=(2.2, 0.5))
    needles = fractal(sheet, "needles", 16.0, octaves=5, gain=0.8)
    for number in range(LAYERS):
        t = number / (LAYERS - 1)
        light = _row(sheet, light, number, t, bark if number > 4 else needles, haze)
        veil = np.clip((0.30 - 0.2 * t) * (0.9 + 0.8 * drift) + 0.16 * smoothstep(0.0, 0.9, sheet.y), 0, 0.6)
        light = mix(light, haze[:, None, None] * (0.66 + 0.4 * glow), veil * (1 - 0.55 * t))
    return develop(light, sheet, exposure=1.0, vignette=0.3)


def _row(sheet: Sheet, light: Colours, number: int, t: float, texture: Colours, haze: Colours) -> Colours:
    """One row of trees on its own rise, nearer rows larger, darker, sharper."""
    rng = sheet.random(f"row {number}")
    ground = 0.30 + 0.62 * t**1.3
    scale = 0.55 * (1 + 2.6 * t**1.6)
    layer = Strokes(sheet)
    line = ground + 0.07 * profile(rng, sheet.x[0], 0.9, octaves=7)
    edge = np.stack([sheet.x[0], line], axis=1)
    corners = np.array([(sheet.right, sheet.bottom + 0.1), (-sheet.right, sheet.bottom + 0.1)])
    layer.shape(np.concatenate([edge, corners]))
    count = max(4, int((34 - 25 * t) * sheet.right))
    for x in np.linspace(-sheet.right, sheet.right, count) + rng.normal(0, 0.09, count):
        foot = float(np.interp(x, sheet.x[0], line)) + 0.02
        if number >= 5 and abs(x) < 0.35:
            continue
        if number >= 4 and rng.random() < 0.7:
            _trunk(layer, rng, (float(x), foot), scale)
        else:
            spruce(layer, rng, foot=(float(x), foot), tall=float(scale * rng.uniform(0.7, 1.15)))
    _undergrowth(layer, rng, sheet, line, 0.02 + 0.09 * t)
    cover = blurred(layer.cover.astype(np.float32) / 255, (1 - t) * 0.004 * sheet.unit)
    dark, pale = linear("1c2620"), linear("56604e")
    tone = mix(dark[:, None, None], pale[:, None, None], np.clip(0.38 + 0.5 * texture, 0, 1))
    moss = smoothstep(0.05, 0.5, sheet.y - line[None, :] + 0.3)
    tone = mix(tone, linear("43502c")[:, None, None] * (1 + 0.5 * texture), moss * 0.5)
    tone = mix(tone, haze[:, None, None] * np.float32(0.72), 0.80 * (1 - t) ** 0.9 + sheet.plane(0.10))
    return mix(light, tone, cover)


def _trunk(layer: Strokes, rng: np.random.Generator, foot: tuple[float, float], scale: float) -> None:
    """A tall trunk that leaves the picture at the top, with dead branches."""
    x, y = foot
    wide = 0.036 * scale * rng.uniform(0.6, 1.1)
    top = -layer.sheet.bottom - 0.2
    lean = rng.normal(0, 0.03)
    levels = np.linspace(y, top, 24)
    t = (y - levels) / (y - top)
    middle = x + lean * t + 0.012 * np.cumsum(rng.normal(0, 0.35, 24))
    half = wide * (1 - 0.55 * t) * 0.5 + wide * 0.7 * np.exp(-t * 26) * 0.6
    layer.shape(np.concatenate([np.stack([middle - half, levels], 1), np.stack([middle + half, levels], 1)[::-1]]))
    for _ in range(int(rng.integers(9, 18))):
        place = rng.uniform(0.12, 0.95)
        start = np.array([np.interp(place, t, middle), y + (top - y) * place])
        side, reach = rng.choice([-1, 1]), scale * rng.uniform(0.06, 0.22)
        knee = start + np.array([side * reach * 0.5, -reach * rng.uniform(-0.05, 0.2)])
        tip = knee + np.array([side * reach * 0.5, reach * rng.uniform(-0.1, 0.35)])
        layer.line(np.stack([start, knee]), wide * 0.13)
        layer.line(np.stack([knee, tip]), wide * 0.08)
        for share in rng.random(6):
            twig = knee + (tip - knee) * share
            layer.line(
                np.stack([twig, twig + np.array([side * 0.3, rng.uniform(0.1, 0.9)]) * reach * 0.28]), wide * 0.045
            )


def _undergrowth(layer: Strokes, rng: np.random.Generator, sheet: Sheet, line: Colours, size: float) -> None:
    """Ferns and grass along the rise."""
    for x in rng.uniform(-sheet.right, sheet.right, int(140 * sheet.right)):
        y = float(np.interp(x, sheet.x[0], line)) + rng.uniform(-0.005, size * 0.6)
        for _ in range(5):
            reach = size * rng.uniform(0.4, 1.0)
            bend = rng.normal(0, 0.6)
            path = np.array(
                [(x, y + 0.01), (x + bend * reach * 0.4, y - reach * 0.7), (x + bend * reach, y - reach * 0.75)]
            )
            layer.line(path, size * 0.05)
