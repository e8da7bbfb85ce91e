"""What stands behind a person: out-of-focus foliage, a studio sweep, a room."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.pictures.colour import hsv, linear, mix, ramp, smoothstep, tint
from convergebench.images.pictures.noise import fractal, soften
from convergebench.images.pictures.sheet import Colours, Sheet


def bokeh(sheet: Sheet) -> Colours:
    """A park in late light, far out of focus."""
    rng = sheet.random("bokeh")
    hue = rng.choice([0.22, 0.28, 0.12, 0.07, 0.55])
    dark, pale = hsv(hue, 0.55, 0.26), hsv(hue - 0.06, 0.42, 0.72)
    clouds = fractal(sheet, "foliage", 1.1, octaves=3, gain=0.5)
    light = mix(dark[:, None, None], pale[:, None, None], np.clip(0.45 + 0.45 * clouds - 0.15 * sheet.y, 0, 1))
    size = 640 if sheet.width <= 640 else min(sheet.width, 1280)
    height = round(size * sheet.height / sheet.width)
    dots = np.zeros((height, size, 3), dtype=np.float32)
    scale = min(size, height) / 2
    for _ in range(90):
        x, y = rng.uniform(-sheet.right, sheet.right), rng.uniform(-sheet.bottom, sheet.bottom * 0.6)
        radius = rng.uniform(0.05, 0.15)
        tone = hsv(hue + rng.uniform(-0.12, 0.04), rng.uniform(0.15, 0.5), 1.0) * rng.uniform(0.05, 0.22)
        disc = np.zeros((height, size), dtype=np.uint8)
        centre = (int((x + sheet.right) * scale * 16), int((y + sheet.bottom) * scale * 16))
        cv2.circle(disc, centre, int(radius * scale * 16), 150, -1, cv2.LINE_AA, 4)
        cv2.circle(disc, centre, int(radius * scale * 16), 255, max(1, int(0.008 * scale)), cv2.LINE_AA, 4)
        box = cv2.boundingRect(disc)
        part = np.s_[box[1] : box[1] + box[3], box[0] : box[0] + box[2]]
        dots[part] += (disc[part].astype(np.float32) / 255)[..., None] * tone
    soft = cv2.resize(
        cv2.GaussianBlur(dots, (0, 0), 0.008 * scale), (sheet.width, sheet.height), interpolation=cv2.INTER_CUBIC
    )
    return light + np.moveaxis(np.asarray(soft, dtype=np.float32), 2, 0)


def studio(sheet: Sheet) -> Colours:
    """Painted canvas with a pool of light behind the shoulders."""
    rng = sheet.random("studio")
    hue, depth = rng.random(), rng.uniform(0.1, 0.35)
    pool = np.exp(-(np.square(sheet.x - rng.uniform(-0.3, 0.3)) + np.square((sheet.y + 0.1) * 0.9)) * 0.9)
    mottle = fractal(sheet, "canvas", 1.4, octaves=7, gain=0.62)
    tone = (0.05 + 0.30 * pool) * (1 + 0.22 * mottle)
    return tint(hsv(hue, depth, 1.0), tone)


def interior(sheet: Sheet) -> Colours:
    """A dim room with a curtain and the window's pale light on the wall."""
    rng = sheet.random("interior")
    wall = linear(("7d6f63", "5f6b6b", "6f6259", "4f5a66")[rng.integers(4)])
    light = tint(
        wall, 0.30 + 0.25 * smoothstep(1.2, -1.2, sheet.x) + 0.03 * fractal(sheet, "plaster", 3.0, octaves=7, gain=0.7)
    )
    side = float(rng.choice([-1, 1]))
    folds = np.sin(
        (sheet.x * 26 + 0.8 * np.sin(sheet.y * 1.3 + sheet.x * 3)) + 1.5 * fractal(sheet, "folds", 1.5, octaves=3)
    )
    curtain = ramp(0.5 + 0.5 * folds, [(0.0, linear("4a4038")), (0.5, linear("8f8070")), (1.0, linear("c4b7a4"))])
    where = smoothstep(0.50, 0.56, sheet.x * side + 0.02 * np.sin(sheet.y * 7)) + sheet.plane()
    light = mix(light, curtain * np.float32(0.55), where)
    picture = np.maximum(np.abs(sheet.x * side + 0.78) - 0.26, np.abs(sheet.y + 0.42) - 0.34)
    frame = smoothstep(0.012, 0.0, picture)
    mat = smoothstep(0.008, 0.0, picture + 0.03)
    art = smoothstep(0.008, 0.0, picture + 0.09)
    light = mix(light, linear("2e2218")[:, None, None], frame)
    light = mix(light, linear("b5ab9a")[:, None, None] * np.float32(0.5), mat)
    paint = ramp(
        np.clip(0.5 + 0.6 * fractal(sheet, "art", 2.2, octaves=5) - 0.5 * (sheet.y + 0.42), 0, 1),
        [(0.0, hsv(rng.random(), 0.5, 0.3)), (0.5, hsv(rng.random(), 0.45, 0.5)), (1.0, hsv(rng.random(), 0.3, 0.75))],
    )
    light = mix(light, paint * np.float32(0.5), art)
    return np.stack([soften(np.ascontiguousarray(p), 0.022 * sheet.unit) for p in light])
