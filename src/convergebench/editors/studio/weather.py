"""Weather and seasons, painted over a photograph: streaks, flakes, haze, the colour of leaves."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.inpaint.lab import from_lab, to_lab
from convergebench.editors.simulated.pixels import Pixels
from convergebench.editors.studio.tones import cv2_pixels

Plane = NDArray[np.float32]


def weathered(pixels: Pixels, variant: str, random: np.random.Generator) -> Pixels:
    """Rain, snow, fog, clouds or sunshine."""
    match variant:
        case "rain":
            grey = _graded(pixels, light=0.74, chroma=0.6, blue=-6.0)
            return _screened(_hazed(grey, 0.22), 0.62 * _rain(pixels.shape, random))
        case "snow":
            pale = _graded(pixels, light=0.94, chroma=0.62, blue=-4.0)
            covered = _snow_covered(pale, 0.55)
            return _screened(_hazed(covered, 0.24), _flakes(pixels.shape, random, 1.0))
        case "fog":
            return _hazed(_graded(pixels, light=1.0, chroma=0.6, blue=-2.0), 0.72)
        case "overcast":
            return _hazed(_graded(pixels, light=0.68, chroma=0.5, blue=-7.0), 0.16)
        case _:
            bright = _graded(pixels, light=1.12, chroma=1.32, blue=7.0)
            return _screened(bright, 0.55 * _sun(pixels.shape))


def seasoned(pixels: Pixels, variant: str, random: np.random.Generator) -> Pixels:
    """The same place in another season: the leaves change, snow lies or goes."""
    lab = to_lab(pixels)
    leaves = _leaves(lab)
    match variant:
        case "winter":
            lab[..., 1:] *= (1 - 0.9 * leaves)[..., None]
            lab[..., 0] += leaves * 0.45 * (88 - lab[..., 0])
            bare = _graded(from_lab(lab), light=1.03, chroma=0.62, blue=-8.0)
            return _screened(_snow_covered(bare, 0.85), _flakes(pixels.shape, random, 0.55))
        case "autumn":
            chroma = np.hypot(lab[..., 1], lab[..., 2])
            patches = _patches(leaves.shape, random)
            lab[..., 1] += leaves * (np.maximum(chroma, 22) * (0.55 + 0.4 * patches) - lab[..., 1])
            lab[..., 2] += leaves * (np.maximum(chroma, 22) * (1.15 - 0.3 * patches) - lab[..., 2])
            return _graded(from_lab(lab), light=0.98, chroma=1.08, blue=10.0)
        case "spring":
            lab[..., 0] += leaves * 0.3 * (84 - lab[..., 0])
            lab[..., 1] -= leaves * 16
            lab[..., 2] += leaves * 10
            fresh = _graded(from_lab(lab), light=1.08, chroma=1.15, blue=2.0)
            return _blossoms(fresh, leaves, random)
        case _:
            chroma = np.maximum(np.hypot(lab[..., 1], lab[..., 2]), 26)
            lab[..., 1] += leaves * (-0.72 * chroma - lab[..., 1])
            lab[..., 2] += leaves * (0.82 * chroma - lab[..., 2])
            return _screened(_graded(from_lab(lab), light=1.09, chroma=1.28, blue=9.0), 0.4 * _sun(pixels.shape))


def _graded(pixels: Pixels, *, light: float, chroma: float, blue: float) -> Pixels:
    lab = to_lab(pixels)
    lab[..., 0] = np.clip(lab[..., 0] * light, 0, 100)
    lab[..., 1:] *= chroma
    lab[..., 2] += blue
    return from_lab(lab)


def _leaves(lab: NDArray[np.float32]) -> Plane:
    """How much each pixel looks like leaves or grass, from yellow over green; 0 … 1."""
    hue = np.degrees(np.arctan2(lab[..., 2], lab[..., 1]))
    chroma = np.hypot(lab[..., 1], lab[..., 2])
    near = np.clip(1 - np.maximum(0, np.abs(hue - 118) - 24) / 14, 0, 1)
    likely = near * np.clip((chroma - 10) / 10, 0, 1) * np.clip((lab[..., 0] - 6) / 10, 0, 1)
    return np.asarray(cv2.GaussianBlur(likely.astype(np.float32), (0, 0), 1.2), np.float32)


def _patches(shape: tuple[int, ...], random: np.random.Generator) -> Plane:
    """Smooth noise from 0 to 1: no two trees turn alike."""
    small = random.random((8, 8)).astype(np.float32)
    return np.clip(cv2.resize(small, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC), 0, 1)


def _hazed(pixels: Pixels, amount: float) -> Pixels:
    """Grey air, thicker towards the horizon."""
    height = pixels.shape[0]
    depth = np.interp(np.linspace(0, 1, height), (0, 0.45, 1), (0.85, 1.0, 0.45)).astype(np.float32)
    weight = (amount * depth)[:, None, None]
    air = 0.5 * np.percentile(pixels.reshape(-1, 3), 90, axis=0) + 0.5 * np.array([206, 211, 216])
    blurred = cv2.GaussianBlur(pixels, (0, 0), 0.6 + 2.0 * amount * max(pixels.shape[:2]) / 512)
    far = pixels + (np.asarray(blurred, np.float32) - pixels) * min(1.0, amount)
    return cv2_pixels(np.clip(far + (air - far) * weight, 0, 255).round())


def _screened(pixels: Pixels, light: Plane) -> Pixels:
    """Light added so that white stays white."""
    glow = light[..., None] if light.ndim == 2 else light
    return cv2_pixels(np.clip(255 - (255 - pixels.astype(np.float32)) * (1 - np.clip(glow, 0, 1)), 0, 255).round())


def _rain(shape: tuple[int, ...], random: np.random.Generator) -> Plane:
    height, width = shape[:2]
    streaks = np.zeros((height, width), np.float32)
    scale = max(height, width) / 320
    for _ in range(round(0.0045 * height * width / scale)):
        x, y, long = random.uniform(-0.1, 1.1) * width, random.uniform(-0.1, 1) * height, random.uniform(8, 22) * scale
        end = round(x + 0.22 * long), round(y + long)
        cv2.line(
            streaks,
            (round(x), round(y)),
            end,
            float(random.uniform(0.25, 0.9)),
            max(1, round(scale * 0.6)),
            cv2.LINE_AA,
        )
    return np.asarray(cv2.GaussianBlur(streaks, (0, 0), 0.5 * scale), np.float32)


def _flakes(shape: tuple[int, ...], random: np.random.Generator, density: float) -> Plane:
    height, width = shape[:2]
    scale = max(height, width) / 320
    flakes = np.zeros((height, width), np.float32)
    for size, share, blur in ((0.9, 0.0042, 0.5), (1.7, 0.0012, 0.9), (3.0, 0.00025, 1.8)):
        layer = np.zeros((height, width), np.float32)
        for _ in range(round(density * share * height * width / scale**2)):
            middle = round(random.uniform(0, width)), round(random.uniform(0, height))
            cv2.circle(
                layer,
                middle,
                max(1, round(size * scale * random.uniform(0.7, 1.2))),
                float(random.uniform(0.7, 1)),
                -1,
                cv2.LINE_AA,
            )
        flakes = np.maximum(flakes, cv2.GaussianBlur(layer, (0, 0), blur * scale))
    return flakes


def _snow_covered(pixels: Pixels, amount: float) -> Pixels:
    """White on what faces up: edges that are lighter than what is below them, and the ground."""
    light = np.asarray(cv2.GaussianBlur(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), (0, 0), 1.2), np.float32)
    slope = cv2.Sobel(light, cv2.CV_32F, 0, 1, ksize=5)
    tops = np.clip(slope / max(1.0, float(np.percentile(np.abs(slope), 92))), 0, 1)
    down = np.linspace(0, 1, pixels.shape[0], dtype=np.float32)[:, None]
    rank = np.clip((light - np.percentile(light, 45)) / 70 + 0.35, 0, 1)
    ground = np.clip((down - 0.5) / 0.3, 0, 1) * rank
    cover = cv2.GaussianBlur(np.maximum(0.8 * tops, 0.75 * ground).astype(np.float32), (0, 0), 1.0) * amount
    snow = np.array([238, 243, 250], np.float32) * (0.72 + 0.28 * light[..., None] / 255)
    return cv2_pixels(np.clip(pixels + (snow - pixels) * cover[..., None], 0, 255).round())


def _sun(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Warm light that falls in from the upper left."""
    across, down = np.meshgrid(np.linspace(0, 1, shape[1]), np.linspace(0, 1, shape[0]))
    glow = np.exp(-((np.hypot(across - 0.08, down - 0.02) / 0.5) ** 2))
    return np.asarray(glow[..., None] * np.array([1.0, 0.9, 0.62]), np.float32)


def _blossoms(pixels: Pixels, leaves: Plane, random: np.random.Generator) -> Pixels:
    """Pink specks where leaves are."""
    scale = max(pixels.shape[:2]) / 320
    specks = np.zeros(leaves.shape, np.float32)
    for _ in range(round(0.006 * leaves.size / scale**2)):
        x, y = int(random.integers(leaves.shape[1])), int(random.integers(leaves.shape[0]))
        if leaves[y, x] > 0.45:
            cv2.circle(specks, (x, y), max(1, round(1.4 * scale)), float(random.uniform(0.6, 1)), -1, cv2.LINE_AA)
    pink = np.array([250, 190, 212], np.float32)
    return cv2_pixels(np.clip(pixels + (pink - pixels) * specks[..., None], 0, 255).round())
