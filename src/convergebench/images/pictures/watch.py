"""A watch from above: brushed dial, applied markers, hands, a sub-dial, a steel bezel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, ramp, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.noise import fractal, soften
from convergebench.images.pictures.sheet import SHIFT, Bytes, Colours, Plane, Sheet

STEEL = [
    (0.0, "2c2e31"),
    (0.18, "8d9196"),
    (0.3, "e9ecef"),
    (0.42, "6a6e73"),
    (0.55, "303236"),
    (0.7, "b9bdc2"),
    (0.82, "f2f4f5"),
    (1.0, "2c2e31"),
]


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("watch")
    tilt = float(rng.uniform(-0.15, 0.15))
    c, s = np.float32(np.cos(tilt)), np.float32(np.sin(tilt))
    x, y = sheet.x * c + sheet.y * s, sheet.y * c - sheet.x * s
    radius, angle = np.sqrt(x * x + y * y), np.arctan2(x, -y)
    light = _strap(sheet, x, y, rng)
    gold = rng.random() < 0.35
    metal = _metal(angle, float(rng.uniform(0, 6)), linear("f0cf94") if gold else linear("f2f4f6"))
    grain = 1 + 0.10 * fractal(sheet, "brush", 3.0, octaves=7, gain=0.9)
    light = _over(light, metal * grain, smoothstep(0.852, 0.846, radius), sheet)
    lip = np.exp(-np.square((radius - 0.80) / 0.006)) + np.exp(-np.square((radius - 0.735) / 0.006))
    light = light * (1 - 0.6 * np.clip(lip, 0, 1))
    hue, depth, value = (
        float(rng.choice([0.6, 0.36, 0.02, 0.1, 0.58, 0.0])),
        float(rng.choice([0.75, 0.6, 0.05])),
        float(rng.uniform(0.18, 0.55)),
    )
    light = mix(light, _dial(sheet, radius, angle, hsv(hue, depth, value), rng), smoothstep(0.732, 0.728, radius))
    ink = linear("e8e4da") if value < 0.62 else linear("20242a")
    mark = partial(_laid, sheet, tilt=tilt)
    light = _markers(sheet, light, mark, ink, linear("f2d9a8") if gold else linear("eef1f4"))
    light = _hands(sheet, light, mark, rng, linear("f2d9a8") if gold else linear("eef1f4"))
    shine = smoothstep(0.02, 0.0, np.abs(x * 0.75 + y - 0.35) - 0.16) * smoothstep(0.73, 0.70, radius)
    light = light + shine * np.float32(0.022)
    return develop(light, sheet, exposure=0.95, vignette=0.35, glow=0.1)


def _over(light: Colours, colour: Colours, cover: Plane, sheet: Sheet) -> Colours:
    """Lay a piece on, with its soft shadow beneath."""
    shadow = soften(
        np.ascontiguousarray(np.roll(cover, int(0.02 * sheet.unit), axis=(0, 1)) + sheet.plane()), 0.022 * sheet.unit
    )
    return mix(light * (1 - 0.6 * shadow), colour, cover)


def _metal(angle: Plane, turned: float, tone: Plane) -> Colours:
    """Turned steel: bands of reflection that run round."""
    t = np.mod((angle + turned) / (2 * np.pi) * 2, 1.0)
    return ramp(t, [(p, linear(code)) for p, code in STEEL]) * tone[:, None, None] * np.float32(0.9)


def _strap(sheet: Sheet, x: Plane, y: Plane, rng: np.random.Generator) -> Colours:
    """A leather strap on a dark desk."""
    desk = linear(("2a2018", "1c1f24", "33302c", "3d2c20")[rng.integers(4)])
    wood = fractal(sheet, "desk", 2.0, octaves=7, gain=0.65, stretch=(0.3, 2.5))
    light = desk[:, None, None] * (1 + 0.4 * wood)
    leather, tone = (
        fractal(sheet, "leather", 13.0, octaves=6, gain=0.72),
        linear(("5a3420", "22201f", "7a5030", "2c3a4a")[rng.integers(4)]),
    )
    strap = tone[:, None, None] * (0.85 + 0.30 * leather) * (1.1 - 0.9 * np.square(x / 0.5))
    stitch = smoothstep(0.006, 0.0, np.abs(np.abs(x) - 0.40) - 0.007) * smoothstep(-0.2, 0.2, np.sin(y * 85))
    strap = mix(strap, linear("cfc0a0")[:, None, None], stitch)
    lugs = smoothstep(
        0.006, -0.006, np.maximum(np.abs(np.abs(x) - 0.5) - 0.07, np.abs(y) - 0.95 + 0.3 * np.abs(np.abs(x) - 0.5))
    )
    light = _over(light, strap, smoothstep(0.005, -0.005, np.abs(x) - 0.44) + sheet.plane(), sheet)
    crown = smoothstep(0.005, -0.005, np.maximum(np.abs(x - 0.9) - 0.07, np.abs(y) - 0.085))
    ridges = 0.6 + 0.4 * np.sin(y * 210)
    light = _over(
        light,
        linear("a9adb2")[:, None, None] * ridges * (1.1 - 60 * np.square(y * 0.9) * 0.6),
        crown + sheet.plane(),
        sheet,
    )
    return _over(
        light, linear("a2a6ab")[:, None, None] * (0.7 + 0.5 * np.cos(x * 6)) + 0 * y, lugs + sheet.plane(), sheet
    )


def _dial(sheet: Sheet, radius: Plane, angle: Plane, tone: Plane, rng: np.random.Generator) -> Colours:
    """Sun-ray brushing: fine radial lines whose shine turns with the light."""
    turned = float(rng.uniform(0, 6))
    lines = rng.standard_normal(4096).astype(np.float32)
    place = np.mod(angle / (2 * np.pi), 1) * 4096
    low = place.astype(np.int64) % 4096
    fine = lines[low] * (1 - (place - np.floor(place))) + lines[(low + 1) % 4096] * (place - np.floor(place))
    ray = 0.52 + 0.48 * np.cos(2 * (angle + turned)) + 0.05 * fine * smoothstep(0.02, 0.15, radius)
    dial = tone[:, None, None] * (0.30 + 1.25 * np.clip(ray, 0, 1.3) ** 1.5)
    sub_x, sub_y = sheet.x, sheet.y - 0.34
    sub = np.sqrt(sub_x * sub_x + sub_y * sub_y)
    rings = 0.8 + 0.2 * np.sin(sub * 330)
    dial = mix(dial, tone[:, None, None] * rings * np.float32(0.55), smoothstep(0.19, 0.186, sub))
    return dial * (1 - 0.5 * smoothstep(0.70, 0.735, radius)) * (1 - 0.5 * np.exp(-np.square((sub - 0.19) / 0.006)))


def _laid(sheet: Sheet, points: Plane, turned: float, *, tilt: float, at: tuple[float, float] = (0.0, 0.0)) -> Bytes:
    """Coverage of a dial part given pointing to twelve, turned clockwise, as 8 bit."""
    total = turned + tilt
    c, s = np.cos(total), np.sin(total)
    x, y = points[:, 0] * c - points[:, 1] * s + at[0], points[:, 0] * s + points[:, 1] * c + at[1]
    fixed = sheet.fixed(np.stack([x, y], 1))
    cover = np.zeros((sheet.height, sheet.width), dtype=np.uint8)
    cv2.fillPoly(cover, [fixed.reshape(-1, 1, 2)], 255, cv2.LINE_AA, SHIFT)
    return cover


def _bar(low: float, high: float, half: float, taper: float = 1.0) -> Plane:
    return np.array([(-half, -low), (half, -low), (half * taper, -high), (-half * taper, -high)])


def _markers(sheet: Sheet, light: Colours, mark: Callable[..., Bytes], ink: Plane, metal: Plane) -> Colours:
    minute = np.zeros((sheet.height, sheet.width), dtype=np.uint8)
    hour = np.zeros_like(minute)
    bright = np.zeros_like(minute)
    for k in range(60):
        turned = k * 2 * np.pi / 60
        minute = np.maximum(minute, mark(_bar(0.685 if k % 5 else 0.67, 0.715, 0.0022), turned))
        if k % 5 == 0 and k != 30:
            half = 0.02 if k % 15 else 0.028
            hour = np.maximum(hour, mark(_bar(0.53, 0.645, half), turned))
            bright = np.maximum(bright, mark(_bar(0.535, 0.64, half * 0.5) - (half * 0.45, 0), turned))
    light = mix(light, ink[:, None, None], minute.astype(np.float32) / 255 * 0.85)
    cover = hour.astype(np.float32) / 255
    light = _over(light, metal[:, None, None] * np.float32(0.42), cover, sheet)
    return mix(light, metal[:, None, None], bright.astype(np.float32) / 255)


def _hands(sheet: Sheet, light: Colours, mark: Callable[..., Bytes], rng: np.random.Generator, metal: Plane) -> Colours:
    hour, minute, second = rng.uniform(0, 12), rng.uniform(0, 60), rng.uniform(0, 60)
    parts = [(_bar(-0.08, 0.40, 0.032, 0.25), hour / 12), (_bar(-0.09, 0.62, 0.024, 0.22), minute / 60)]
    for shape, share in parts:
        for side, tone in ((1.0, 0.35), (-1.0, 1.0)):
            half = np.where(shape[:, :1] * side > 0, shape, shape * (0, 1))
            cover = mark(half, share * 2 * np.pi).astype(np.float32) / 255
            light = (
                _over(light, metal[:, None, None] * np.float32(tone), cover, sheet)
                if side > 0
                else mix(light, metal[:, None, None] * np.float32(tone), cover)
            )
    small = mark(_bar(-0.04, 0.16, 0.005), second / 60 * 2 * np.pi, at=(0.0, 0.34)).astype(np.float32) / 255
    light = _over(light, linear("c0392b")[:, None, None] + 0 * light, small, sheet)
    cap = smoothstep(0.036, 0.032, np.sqrt(np.square(sheet.x) + np.square(sheet.y)))
    return _over(light, metal[:, None, None] * (0.5 + 6 * (0.04 - sheet.x - sheet.y)), cap, sheet)
