"""Colour, light and the look of old films: changes to every pixel that leave the content where it is."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.inpaint.lab import from_lab, to_lab
from convergebench.editors.simulated.pixels import Pixels

Plane = NDArray[np.float32]


def toned(pixels: Pixels, variant: str) -> Pixels:
    """Warmer or cooler."""
    lab = to_lab(pixels)
    towards = (7.0, 20.0) if variant == "warm" else (-5.0, -21.0)
    # as much in the shadows as in the lights looks like paint; as a lamp it grows with the light
    weight = 0.45 + 0.55 * np.clip(lab[..., 0] / 75, 0, 1)
    lab[..., 1] += towards[0] * weight
    lab[..., 2] += towards[1] * weight
    return from_lab(lab)


def filmed(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """Film grain, faded blacks, a warm cast and dark corners."""
    lab = to_lab(pixels)
    light = lab[..., 0]
    lab[..., 0] = 9 + light * 0.87
    lab[..., 1] = lab[..., 1] * 0.75 + 2
    lab[..., 2] = lab[..., 2] * 0.75 + np.interp(light, (0, 50, 100), (-3, 6, 13))
    lab[..., 0] += grain(light.shape, random, 5.5) * (1.15 - np.abs(light / 50 - 1) * 0.6)
    lab[..., 0] *= vignette(light.shape, 0.32)
    return from_lab(lab)


def aged(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """An old print: brown, soft, scratched and spotted, dark at the corners."""
    light = to_lab(cv2_pixels(cv2.GaussianBlur(pixels, (0, 0), 0.7)))[..., 0]
    tone = 14 + 0.82 * (100 * np.clip(light / 100, 0, 1) ** 0.95) + grain(light.shape, random, 4.0)
    tone = tone * vignette(light.shape, 0.42) + 26 * _scratches(light.shape, random)
    sepia = np.stack([tone, np.full_like(tone, 7.0), 12 + 12 * np.clip(tone / 100, 0, 1)], axis=-1)
    return from_lab(np.asarray(sepia, np.float32))


def modern(pixels: Pixels) -> Pixels:
    """A clean digital photograph: clear contrast, strong colours, crisp edges."""
    lab = to_lab(pixels)
    light = np.asarray(lab[..., 0], np.float32)
    low, high = np.percentile(light, (1.5, 98.5))
    stretched = np.clip((light - low) / max(12.0, float(high - low)), 0, 1)
    crisp = 100 * (stretched * stretched * (3 - 2 * stretched) * 0.5 + stretched * 0.5)
    lab[..., 0] = crisp + 0.7 * (crisp - cv2.GaussianBlur(np.asarray(crisp, np.float32), (0, 0), 1.6))
    lab[..., 1:] *= 1.4
    lab[..., 2] -= 2.0
    return from_lab(lab)


def lit(pixels: Pixels, variant: str, place: str | None = None) -> Pixels:
    """Another light over everything."""
    lab = to_lab(pixels)
    light = np.asarray(lab[..., 0], np.float32)
    height, width = light.shape
    across, down = np.meshgrid(np.linspace(0, 1, width, dtype=np.float32), np.linspace(0, 1, height, dtype=np.float32))
    match variant:
        case "golden":
            side = across if str(place).endswith("right") else 1 - across
            glow = np.clip(0.75 * side + 0.35 * (1 - down), 0, 1) ** 1.5
            lab[..., 0] = light * (0.84 + 0.2 * glow) + 11 * glow
            lab[..., 1] += 8 + 6 * glow
            lab[..., 2] += 20 + 16 * glow
        case "fluorescent":
            lab[..., 0] = 20 + 0.82 * light
            lab[..., 1] = 0.72 * lab[..., 1] - 8
            lab[..., 2] = 0.72 * lab[..., 2] + 3
        case "night":
            shine = np.clip((light - 82) / 18, 0, 1)
            lab[..., 0] = light * (0.36 + 0.5 * shine)
            lab[..., 1] = 0.45 * lab[..., 1] + 2 * (1 - shine)
            lab[..., 2] = 0.45 * lab[..., 2] - 17 * (1 - shine)
        case "candle":
            far = np.hypot(across - 0.5, (down - 0.6) * height / width)
            near = np.exp(-((far / 0.42) ** 2))
            lab[..., 0] = light * (0.3 + 0.72 * near)
            lab[..., 1] += 8 + 8 * near
            lab[..., 2] += 22 + 16 * near
        case _:  # studio
            near = np.exp(-(((across - 0.5) / 0.42) ** 2) - ((down - 0.45) / 0.5) ** 2)
            lab[..., 0] = np.clip(light * (0.5 + 0.68 * near), 0, 100)
            lab[..., 1:] *= 0.94
    return _bloom(from_lab(lab), 0.22 if variant == "golden" else 0.0)


def grain(shape: tuple[int, ...], random: np.random.Generator, strength: float) -> Plane:
    """Noise of about a pixel and a half, with this standard deviation."""
    fine = random.standard_normal(shape).astype(np.float32)
    coarse = cv2.GaussianBlur(fine, (0, 0), 0.8)
    return np.asarray(strength * (0.5 * fine + 0.5 * coarse / max(1e-6, float(coarse.std()))), np.float32)


def vignette(shape: tuple[int, ...], depth: float) -> Plane:
    """1 in the middle, darker towards the corners."""
    across, down = np.linspace(-1, 1, shape[1]), np.linspace(-1, 1, shape[0])
    far = np.sqrt(across[None] ** 2 + down[:, None] ** 2) / np.sqrt(2)
    return np.asarray(1 - depth * np.clip((far - 0.35) / 0.65, 0, 1) ** 1.6, np.float32)


def cv2_pixels(array: object) -> Pixels:
    """What OpenCV returned, as 8-bit pixels."""
    return np.asarray(array, np.uint8)


def _scratches(shape: tuple[int, ...], random: np.random.Generator) -> Plane:
    """Thin, mostly upright scratches and a few specks, −1 … 1."""
    height, width = shape
    marks = np.zeros(shape, np.float32)
    for _ in range(7):
        column, top = random.uniform(0, width), random.uniform(-0.3, 0.7) * height
        points = [
            (round(column + random.normal(0, 0.004 * width) * step), round(top + step * 0.08 * height))
            for step in range(9)
        ]
        cv2.polylines(marks, [np.array(points, np.int32)], False, float(random.choice((-0.7, 0.9))), 1, cv2.LINE_AA)
    for _ in range(24):
        middle = round(random.uniform(0, width)), round(random.uniform(0, height))
        cv2.circle(marks, middle, int(random.integers(0, 2)), float(random.choice((-0.8, 0.8))), -1, cv2.LINE_AA)
    return marks


def _bloom(pixels: Pixels, strength: float) -> Pixels:
    """Light that spreads a little around what is bright."""
    if not strength:
        return pixels
    bright = np.clip(pixels.astype(np.float32) - 150, 0, None)
    spread = cv2.GaussianBlur(bright, (0, 0), 0.03 * max(pixels.shape[:2]))
    return cv2_pixels(np.clip(pixels + strength * 2 * spread, 0, 255))
