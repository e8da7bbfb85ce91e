"""Damages of editors that mean well: texture is taken for noise, outlines are made crisp, again and again.

A step smooths and then sharpens, with one of several tools for each, perhaps at another size in between: what
restorers and enlargers do to a picture that has nothing left to restore.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from training.decay.damage import Random, Step, Values, between, to_pixels

Tool = Callable[[Values], Values]


def enhanced(random: Random) -> Step:
    """Smoothing, then sharpening, at the picture's size or larger or smaller, with a share of the input kept."""
    smooth, sharp = _smoother(random), _sharpener(random)
    factor = float(random.choice([1.0, 1.0, 2.0, random.uniform(0.4, 0.8)]))
    share = float(random.choice([1.0, random.uniform(0.3, 1.0)]))
    first = bool(random.random() < 0.7)

    def step(pixels: Pixels, now: Random) -> Pixels:
        height, width = pixels.shape[:2]
        values = pixels.astype(np.float32)
        done = _sized(values, round(width * factor), round(height * factor))
        for tool in (smooth, sharp) if first else (sharp, smooth):
            done = np.clip(tool(done), 0, 255)
        done = _sized(done, width, height)
        return to_pixels(values + share * (done - values))

    return step


def _sized(values: Values, width: int, height: int) -> Values:
    if (values.shape[1], values.shape[0]) == (width, height):
        return values
    kernel = cv2.INTER_AREA if width < values.shape[1] else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(values, (width, height), interpolation=kernel), np.float32)


def _smoother(random: Random) -> Tool:
    kind = int(random.integers(4))
    strength, share = between(random, 3, 30), float(random.uniform(0.3, 1.0))
    if kind == 0:
        return lambda values: _mixed(values, cv2.bilateralFilter(values, 5, strength, 2.0), share)
    if kind == 1:
        return lambda values: _mixed(values, cv2.medianBlur(to_pixels(values), 3), share)
    if kind == 2:
        return lambda values: _guided(values, 2, strength)
    return lambda values: _cored(values, strength / 6)


def _mixed(values: Values, other: object, share: float) -> Values:
    return np.asarray(values + share * (np.asarray(other, np.float32) - values), np.float32)


def _guided(values: Values, radius: int, strength: float) -> Values:
    """He's guided filter with the picture as its own guide."""
    side = (2 * radius + 1, 2 * radius + 1)
    mean = cv2.blur(values, side)
    spread = np.maximum(cv2.blur(values * values, side) - mean * mean, 0)
    slope = spread / (spread + strength**2)
    return np.asarray(cv2.blur(slope, side) * values + cv2.blur(mean - slope * mean, side), np.float32)


def _cored(values: Values, knee: float) -> Values:
    """Small details fade, large ones stay."""
    mean = np.asarray(cv2.GaussianBlur(values, (0, 0), 1.2))
    detail = values - mean
    return np.asarray(mean + detail * (1 - np.exp(-np.square(detail / knee))), np.float32)


def _sharpener(random: Random) -> Tool:
    kind, amount = int(random.integers(4)), between(random, 0.1, 0.9)
    radius = float(random.uniform(0.6, 2.2))
    if kind == 0:
        return lambda values: np.asarray(values + amount * (values - cv2.GaussianBlur(values, (0, 0), radius)))
    if kind == 1:
        return lambda values: _shocked(values, 0.4 * amount)
    if kind == 2:
        return lambda values: _warped(values, amount)
    return lambda values: values


def _shocked(values: Values, amount: float) -> Values:
    """Towards the brighter neighbour on the bright side of an outline, the darker one on the dark side."""
    side = np.ones((3, 3), np.uint8)
    curve = np.asarray(cv2.Laplacian(cv2.GaussianBlur(values, (0, 0), 1.0), cv2.CV_32F))
    towards = np.where(curve < 0, cv2.dilate(values, side), cv2.erode(values, side))
    certain = np.clip(np.abs(curve) / 4, 0, 1)
    return np.asarray(values + amount * certain * (towards - values), np.float32)


def _warped(values: Values, amount: float) -> Values:
    """Outlines become thin: every place takes its colour from a little further away from the nearest outline."""
    grey = np.asarray(cv2.GaussianBlur(values.mean(axis=2), (0, 0), 1.0), np.float32)
    slope = cv2.magnitude(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)) / 8
    near = np.asarray(cv2.GaussianBlur(slope, (0, 0), 1.0))
    right, below = cv2.Sobel(near, cv2.CV_32F, 1, 0) / 8, cv2.Sobel(near, cv2.CV_32F, 0, 1) / 8
    length = np.sqrt(right * right + below * below) + 0.5
    there_x = np.arange(values.shape[1], dtype=np.float32)[None, :] - amount * right / length
    there_y = np.arange(values.shape[0], dtype=np.float32)[:, None] - amount * below / length
    moved = cv2.remap(
        values, there_x.astype(np.float32), there_y.astype(np.float32), cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT
    )
    return np.asarray(moved, np.float32)
