"""A peacock feather: barbs with iridescent colour that changes along and between them."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import decode, encode, linear, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.noise import fractal, soften
from convergebench.images.pictures.sheet import SHIFT, Bytes, Plane, Sheet


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("feather")
    tilt = float(rng.uniform(-0.35, 0.35))
    eye = (float(rng.uniform(-0.08, 0.08)), -0.22)
    ground = linear(("0d1418", "1a120e", "0a0f0d", "181420")[rng.integers(4)])
    blur = soften(fractal(sheet, "behind", 1.0, octaves=3), 0.03 * sheet.unit)
    light = ground[:, None, None] * (1.0 + 0.6 * blur - 0.25 * sheet.y)
    phase = float(rng.uniform(-0.12, 0.12))
    canvas = np.zeros((sheet.height, sheet.width, 4), dtype=np.uint8)
    for pass_number in range(2):
        _barbs(
            sheet, canvas, rng, tilt=tilt, eye=eye, phase=phase, count=(900, 2100)[pass_number], under=pass_number == 0
        )
    _shaft(sheet, canvas, tilt, eye)
    weight = canvas[..., 3].astype(np.float32) / 255
    paint_ = decode(np.moveaxis(canvas[..., :3], 2, 0).astype(np.float32) / 255)
    light = light + (paint_ - light) * weight
    sheen = smoothstep(0.2, 0.9, fractal(sheet, "sheen", 1.3, octaves=3)) * weight
    light = light * (1 + 0.35 * sheen)
    return develop(light, sheet, exposure=1.5, vignette=0.4, glow=0.08)


def _tint(u: Plane, v: Plane, phase: float) -> Plane:
    """SRGB of the feather at (u across, v up) around the eye's centre: heart, blue, bronze, green, gold rim."""
    notch = 0.10 * np.exp(-np.square(u / 0.05)) * (v < 0.02)
    heart = np.hypot(u / 0.105, (v + 0.015 - notch) / 0.085)
    blue = np.hypot(u / 0.175, (v - 0.01) / 0.165)
    bronze = np.hypot(u / 0.29, (v + 0.03) / 0.31)
    green = np.hypot(u / 0.375, (v + 0.07) / 0.43)
    gold = np.hypot(u / 0.43, (v + 0.10) / 0.52)
    out = np.array([0.30, 0.36, 0.16]) + 0 * u[:, None]
    for ring, colour in (
        (gold, (0.62, 0.56, 0.20)),
        (green, (0.16, 0.56, 0.26)),
        (bronze, (0.66, 0.40, 0.14)),
        (blue, (0.05, 0.55, 0.72)),
        (heart, (0.06, 0.07, 0.34)),
    ):
        weight = smoothstep(1.05, 0.93, ring.astype(np.float32))[:, None]
        out = out * (1 - weight) + np.array(colour) * weight
    # thin-film shift: the hue runs with the viewing angle, here with direction and distance
    film = np.sin(6.0 * bronze + 2.2 * np.arctan2(u, v) + 6 * phase)[:, None]
    return np.asarray(
        np.clip(out * (1 + 0.22 * film * np.array([0.6, 0.2, -0.6])) + 0.03 * film * np.array([-1, 1, 1]), 0, 1)
    )


def _barbs(
    sheet: Sheet,
    canvas: Bytes,
    rng: np.random.Generator,
    *,
    tilt: float,
    eye: tuple[float, float],
    phase: float,
    count: int,
    under: bool,
) -> None:
    """Barbs spring from the shaft and curve outwards; round the eye they close in from both sides."""
    root = np.sort(rng.uniform(-0.62, 2.2, count))[::-1, None]
    chance, drift = rng.random((count, 4)), rng.normal(size=(count, 2))
    side = np.where(rng.random((count, 1)) < 0.5, -1.0, 1.0)
    steps = np.linspace(0, 1, 15)[None, :]
    near_eye = np.exp(-np.square((root + 0.1) / 0.5))
    reach = (0.62 + 0.25 * chance[:, :1]) * (0.62 + 0.45 * np.clip((root + 0.75) / 0.8, 0, 1))
    lift = (0.95 * near_eye + 0.62) * (1 + 0.08 * drift[:, :1])
    u = side * reach * steps**1.05 * (1 - 0.20 * near_eye * steps) + 0.01 * drift[:, 1:]
    sway = 0.015 * np.sin(steps * 9 + 6 * chance[:, 1:2]) * steps
    v = lift * reach * (0.95 * steps - 0.45 * steps**2) + sway - root
    shade = (0.55 + 0.6 * chance[:, 2:3]) * (0.5 if under else 1.0)
    glint = 1 + 0.25 * np.sin(np.arange(15)[None, :] * 2.1 + root * 40)
    tones = _tint(u.ravel(), v.ravel(), phase) * (shade * glint).reshape(-1, 1)
    loose = 1 - smoothstep(0.55, 1.0, steps) * (0.3 + 0.6 * chance[:, 3:])
    painted = np.concatenate([tones, loose.reshape(-1, 1)], axis=1).reshape(count, 15, 4)
    width = max(1, round((0.009 if under else 0.0042) * sheet.unit))
    points = sheet.fixed(np.stack(_placed(u, v, tilt, eye), axis=2)).tolist()
    for ends, colours in zip(points, np.clip(painted * 255, 0, 255).astype(int).tolist(), strict=True):
        for k in range(14):
            cv2.line(canvas, ends[k], ends[k + 1], colours[k], width, cv2.LINE_AA, SHIFT)


def _placed(u: Plane, v: Plane, tilt: float, eye: tuple[float, float]) -> tuple[Plane, Plane]:
    c, s = np.cos(tilt), np.sin(tilt)
    return eye[0] + 1.15 * (u * c - v * s), eye[1] - 1.15 * (v * c + u * s)


def _shaft(sheet: Sheet, canvas: Bytes, tilt: float, eye: tuple[float, float]) -> None:
    down = np.linspace(0.12, 2.6, 60)
    x, y = _placed(0.03 * np.sin(down * 1.2), -down, tilt, eye)
    points = sheet.fixed(np.stack([x, y], 1))
    for k in range(59):
        width = max(1, round((0.004 + 0.005 * k / 59) * sheet.unit))
        tone = (*(int(v) for v in np.clip(encode(linear("b89a6a")) * 255 * (0.8 + 0.2 * k / 59), 0, 255)), 255)
        cv2.line(
            canvas,
            tuple(int(q) for q in points[k]),
            tuple(int(q) for q in points[k + 1]),
            tone,
            width,
            cv2.LINE_AA,
            SHIFT,
        )
