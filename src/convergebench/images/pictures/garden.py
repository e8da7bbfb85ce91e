"""A cottage garden: a path between beds of flowers, a hedge, trees, afternoon sun."""

from __future__ import annotations

import colorsys

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import decode, encode, hsv, linear, mix, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.noise import fractal, profile
from convergebench.images.pictures.sheet import SHIFT, Bytes, Colours, Sheet
from convergebench.images.pictures.sky import sky
from convergebench.images.pictures.texture import clouds

HORIZON = -0.22


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("garden")
    light = sky(sheet, str(rng.choice(["noon", "gold"])), horizon=HORIZON, clouds=0.5)
    light = _trees(sheet, light, rng)
    light = _lawn(sheet, light, rng)
    canvas = np.ascontiguousarray(np.moveaxis(np.round(encode(np.clip(light, 0, 1)) * 255), 0, 2).astype(np.uint8))
    _beds(sheet, canvas, rng)
    return develop(decode(np.moveaxis(canvas, 2, 0).astype(np.float32) / 255), sheet, exposure=1.0, vignette=0.3)


def _trees(sheet: Sheet, light: Colours, rng: np.random.Generator) -> Colours:
    """Rounded crowns and a hedge, dappled by light from one side."""
    leaves = fractal(sheet, "leaves", 11.0, octaves=6, gain=0.85)
    masses = fractal(sheet, "masses", 2.4, octaves=5, gain=0.6)
    side = float(rng.choice([-1, 1]))
    for number, (base, swing, hue) in enumerate(((-0.52, 0.36, 0.30), (-0.38, 0.26, 0.26), (-0.25, 0.10, 0.24))):
        line = base + swing * 0.6 * profile(rng, sheet.x, 1.3 + 0.5 * number, octaves=4) - 0.04 * np.abs(masses)
        edge = sheet.y - line + 0.035 * leaves
        bump = masses + 0.55 * leaves
        lit = np.clip(
            0.45
            + 0.35 * bump
            + 0.2 * side * np.roll(masses, int(0.05 * sheet.unit), axis=1)
            - 0.5 * np.clip(sheet.y - line, 0, 0.5),
            0,
            1,
        )
        dark, pale = hsv(hue + 0.03, 0.65, 0.16), hsv(hue - 0.05, 0.62, 0.62)
        tone = mix(dark[:, None, None], pale[:, None, None], lit)
        tone = mix(tone, linear("c9d6cf")[:, None, None], 0.30 - 0.13 * number)
        light = mix(light, tone, smoothstep(-0.004, 0.008, edge))
    return light


def _lawn(sheet: Sheet, light: Colours, rng: np.random.Generator) -> Colours:
    """Mown grass with a gravel path that narrows to the hedge."""
    dip = np.maximum(sheet.y - HORIZON, 1e-3)
    z = 0.6 / dip + sheet.plane()
    x = sheet.x * z
    wide = z * z * np.float32(sheet.pixel * 1.7)
    blades, shade, grit = (clouds(rng, knots=k, octaves=4, gain=0.8) for k in ((64, 24), (3, 3), (128, 128)))
    grass = mix(
        hsv(0.27, 0.66, 0.30)[:, None, None],
        hsv(0.20, 0.62, 0.62)[:, None, None],
        np.clip(0.5 + 0.35 * blades(x * 0.8, z * 0.8, wide * 0.8) + 0.25 * shade(x * 0.3, z * 0.3, wide), 0, 1),
    )
    middle = 0.16 * np.sin(z * 0.55 + rng.uniform(0, 6))
    path = smoothstep(0.02, -0.02, np.abs(x - middle) - 0.42 + 0.04 * shade(x * 0.5, z, wide))
    gravel = linear("c2b196")[:, None, None] * (0.82 + 0.22 * grit(x, z, wide) + 0.08 * shade(x * 0.4, z * 0.4, wide))
    ground = mix(grass, gravel, path)
    dapple = smoothstep(-0.2, 0.3, shade(x * 0.22 + 0.4, z * 0.3, wide * 0.3))
    ground = ground * (0.45 + 0.6 * dapple)
    cover = smoothstep(-0.6, 0.6, (sheet.y - HORIZON - 0.06) * sheet.unit) + sheet.plane()
    return mix(light, ground, cover)


def _beds(sheet: Sheet, canvas: Bytes, rng: np.random.Generator) -> None:
    """Flowers on both sides of the path, back to front so that near ones stand before far ones."""
    hues = rng.choice([0.93, 0.0, 0.12, 0.75, 0.83, 0.6, 0.05, 0.15], 5, replace=False)
    depth = np.sort(rng.uniform(0.42, 4.2, 1500) ** 1.0)[::-1]
    swing = rng.uniform(0, 6)
    for z in depth:
        side = rng.choice([-1.0, 1.0])
        x = side * (0.55 + rng.gamma(2.0, 0.35)) + 0.16 * np.sin(z * 0.55 + swing)
        px, py, size = x / z, HORIZON + 0.6 / z, 0.055 / z
        if abs(px) > sheet.right + 0.2:
            continue
        tall = size * rng.uniform(1.5, 4.2)
        _tuft(sheet, canvas, rng, (px, py), size)
        clump = int(abs(np.floor(x * 1.6) * 7 + np.floor(z * 1.5))) % 5
        _bloom(sheet, canvas, rng, (px + rng.normal(0, size * 0.3), py - tall), size, float(hues[clump]), kind=clump)


def _tone(hue: float, saturation: float, value: float, strength: float = 1.0) -> tuple[int, int, int]:
    """8-bit colour; strength is in linear light."""
    gain = 255 * strength ** (1 / 2.2)
    red, green, blue = colorsys.hsv_to_rgb(hue % 1.0, saturation, value)
    return min(255, int(red * gain)), min(255, int(green * gain)), min(255, int(blue * gain))


def _tuft(sheet: Sheet, canvas: Bytes, rng: np.random.Generator, at: tuple[float, float], size: float) -> None:
    """A few blades that bend apart."""
    draws, thick = rng.random((7, 4)), max(1, round(size * 0.16 * sheet.unit))
    reach, bend = size * (1.2 + 2.8 * draws[:, 0]), (draws[:, 1] - 0.5) * 1.8
    across = np.stack([0 * reach, 0.3 * bend * reach, 0.7 * bend * reach], axis=1) + at[0]
    upward = at[1] - np.stack([0 * reach, 0.6 * reach, reach], axis=1)
    for path, (_, _, hue, value) in zip(sheet.fixed(np.stack([across, upward], axis=2)), draws.tolist(), strict=True):
        green = _tone(0.2 + 0.14 * hue, 0.62, 0.18 + 0.42 * value)
        cv2.polylines(canvas, [path], False, green, thick, cv2.LINE_AA, SHIFT)


def _bloom(
    sheet: Sheet,
    canvas: Bytes,
    rng: np.random.Generator,
    at: tuple[float, float],
    size: float,
    hue: float,
    *,
    kind: int,
) -> None:
    """A daisy, a spike or a ball of petals."""
    tint = (float(hue + rng.normal(0, 0.012)), float(rng.uniform(0.35, 0.85)), float(rng.uniform(0.75, 1.0)))
    if kind == 1:
        for step in range(9):
            spot = (at[0] + rng.normal(0, size * 0.14), at[1] + (step - 3) * size * 0.28)
            _disc(sheet, canvas, spot, size * (0.16 + 0.02 * step), _tone(*tint, 0.55 + 0.08 * step))
        return
    petals, turned = int(rng.integers(7, 13)), rng.uniform(0, 6)
    for ring in range(2 if kind != 3 else 3):
        angle = turned + ring * 0.4 + np.arange(petals) * 2 * np.pi / petals
        tip = np.stack([np.cos(angle), 0.72 * np.sin(angle)], axis=1) * size * (0.62 - 0.2 * ring)
        across = np.stack([-np.sin(angle), 0.72 * np.cos(angle)], axis=1) * size * (0.62 - 0.2 * ring) * 0.30
        paths = np.stack([0 * tip, tip * 0.6 + across, tip, tip * 0.6 - across], axis=1) + np.array(at)
        shades = 0.62 + 0.3 * ring + 0.18 * np.cos(angle - 2.2) + rng.uniform(-0.06, 0.06, petals)
        for path, shade in zip(sheet.fixed(paths), shades.tolist(), strict=True):
            cv2.fillPoly(canvas, [path], _tone(*tint, shade), cv2.LINE_AA, SHIFT)
    _disc(sheet, canvas, at, size * 0.17, (201, 138, 30))


def _disc(sheet: Sheet, canvas: Bytes, at: tuple[float, float], radius: float, tone: tuple[int, int, int]) -> None:
    centre = sheet.fixed(np.array([at]))[0]
    cv2.circle(
        canvas,
        (int(centre[0]), int(centre[1])),
        max(4, int(radius * sheet.unit * 2**SHIFT)),
        tone,
        -1,
        cv2.LINE_AA,
        SHIFT,
    )
