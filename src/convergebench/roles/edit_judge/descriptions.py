"""Descriptions of single pictures, and of the difference of two on one grid."""

from __future__ import annotations

from math import log1p

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Frame, Plane
from convergebench.metrics._lab import lab, mean_lab
from convergebench.metrics._planes import luma
from convergebench.metrics.base import Item
from convergebench.metrics.diagnostics.noise import noise

EDGES_AT = 160
"""Longer side of the pictures whose edges are compared."""
SOFT = 2.0
"""Blur before colours are compared, so that redrawn texture and codecs count for little (σ, pixels)."""
COLOURS = 16
"""Levels of each channel at which colours are told apart."""


def edges(frame: Frame) -> Plane:
    """Where edges are, strong ones and weak ones nearly alike, at a small size."""
    return frame.derived("judged-edges", _edges)


def correlation(one: Plane, other: Plane) -> float:
    """Of two planes of one size; 0 if one of them is even."""
    x, y = one - one.mean(), other - other.mean()
    length = float(np.sqrt(np.vdot(x, x) * np.vdot(y, y)))
    return float(np.vdot(x, y)) / length if length > 1e-6 else 0.0


def _edges(frame: Frame) -> Plane:
    factor = min(1.0, EDGES_AT / max(frame.size))
    grey = cv2.resize(luma(frame), None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(grey, (0, 0), 1.0)
    slope = cv2.magnitude(cv2.Sobel(soft, cv2.CV_32F, 1, 0), cv2.Sobel(soft, cv2.CV_32F, 0, 1))
    return np.asarray(cv2.GaussianBlur(slope / (slope + slope.mean() + 2), (0, 0), 2.0), np.float32)


def _soft_lab(frame: Frame) -> tuple[Plane, Plane, Plane]:
    def make(frame: Frame) -> tuple[Plane, ...]:
        return tuple(np.asarray(cv2.GaussianBlur(plane, (0, 0), SOFT), np.float32) for plane in lab(frame))

    first, second, third = frame.derived("soft-lab", make)
    return first, second, third


def colours(frame: Frame) -> NDArray[np.intp]:
    """Every pixel's colour in few levels."""
    return np.asarray(frame.pixels // (256 // COLOURS), np.intp)


def distance(one: Frame, other: Frame) -> Plane:
    """ΔE of every pixel of two softened pictures."""
    planes = zip(_soft_lab(one), _soft_lab(other), strict=True)
    return np.asarray(np.sqrt(sum(np.square(first - second) for first, second in planes)), np.float32)


def local_similarity(one: Plane, other: Plane) -> Plane:
    """Structural similarity around every pixel, without the part that brightness has in it."""

    def mean(plane: Plane) -> Plane:
        return np.asarray(cv2.GaussianBlur(plane, (0, 0), 1.5), np.float32)

    first, second = mean(one), mean(other)
    varied, varied_other = mean(one * one) - first * first, mean(other * other) - second * second
    together = mean(one * other) - first * second
    # brightness is left to the colour change
    return np.asarray((2 * together + 58.5) / (varied + varied_other + 58.5), np.float32)


def texture(frame: Frame) -> Plane:
    """Fine detail, slopes and noise on logarithmic scales, the share of flat places, colourfulness and lightness."""

    def make(frame: Frame) -> Plane:
        plane = luma(frame)
        fine = float(np.abs(cv2.Laplacian(plane, cv2.CV_32F)).mean())
        slope = cv2.magnitude(cv2.Sobel(plane, cv2.CV_32F, 1, 0), cv2.Sobel(plane, cv2.CV_32F, 0, 1))
        flat = float((slope < 6).mean())
        means = float(slope.mean()), noise(Item(frame)), mean_lab(frame).chroma, float(plane.mean())
        return np.array(
            [log1p(fine), log1p(means[0]), log1p(means[1]), 2 * flat, means[2] / 20, means[3] / 60], np.float32
        )

    return frame.derived("judged-texture", make)


def crispness(frame: Frame) -> float:
    """How much of the steepest edges' strength a slight blur takes away; contrast does not count."""

    def make(frame: Frame) -> float:
        plane = luma(frame)
        soft = np.asarray(cv2.GaussianBlur(plane, (0, 0), 2.0), np.float32)
        return _steepest(plane) / max(_steepest(soft), 0.5)

    return max(frame.derived("judged-crispness", make), 1e-3)


def _steepest(plane: Plane) -> float:
    slope = cv2.magnitude(cv2.Sobel(plane, cv2.CV_32F, 1, 0), cv2.Sobel(plane, cv2.CV_32F, 0, 1))
    return float(np.quantile(slope[::2, ::2], 0.98))


def clipped_share(frame: Frame) -> float:
    """Share of pixels that are burnt out or black."""
    low, high = frame.pixels.max(axis=2) <= 2, frame.pixels.min(axis=2) >= 253
    return float((low | high).mean())
