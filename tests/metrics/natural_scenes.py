"""BRISQUE, NIQE and PIQE spelt out in float64, one step after the other: slow, and what ours must equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import correlate
from scipy.special import gamma

from convergebench.images.frame import Pixels

Numbers = NDArray[np.float64]

_DISTANCE = np.square(np.arange(-3, 4)) / (2 * (7 / 6) ** 2)
_WINDOW = np.exp(-np.add.outer(_DISTANCE, _DISTANCE))
_WINDOW /= _WINDOW.sum()
_SHAPES = np.arange(0.2, 10.0005, 0.001)
_RATIOS = gamma(2 / _SHAPES) ** 2 / (gamma(1 / _SHAPES) * gamma(3 / _SHAPES))


def luma(pixels: Pixels) -> Numbers:
    weights = np.array([0.298936021293775, 0.587043074451121, 0.114020904255103])
    rounded: Numbers = np.floor(pixels @ weights + 0.5)
    return rounded


def cubic(distance: float) -> float:
    x = abs(distance)
    if x <= 1:
        return 1.5 * x**3 - 2.5 * x**2 + 1
    return -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2 if x < 2 else 0.0


def half(plane: Numbers) -> Numbers:
    """Bicubic, the kernel stretched to twice its width, one axis after the other."""
    for _ in range(2):
        size = len(plane)
        rows = []
        for place in range((size + 1) // 2):
            centre = 2 * place + 0.5
            total = np.zeros(plane.shape[1])
            for source in range(2 * place - 3, 2 * place + 5):
                mirrored = source if source >= 0 else -1 - source
                mirrored = mirrored if mirrored < size else 2 * size - 1 - mirrored
                total += cubic((source - centre) / 2) / 2 * plane[mirrored]
            rows.append(total)
        plane = np.array(rows).T
    return plane


def normalised(plane: Numbers, border: str) -> Numbers:
    mean = correlate(plane, _WINDOW, mode=border)
    deviation = np.sqrt(np.abs(correlate(plane**2, _WINDOW, mode=border) - mean**2))
    difference = plane - mean
    difference[np.abs(difference) < 1e-9] = 0
    found: Numbers = difference / (deviation + 1)
    return found


def asymmetric(values: Numbers) -> tuple[float, float, float]:
    """Shape, deviation on the left, deviation on the right."""
    left, right = (np.sqrt(np.mean(side**2)) for side in (values[values < 0], values[values > 0]))
    tilt = left / right
    ratio = np.mean(np.abs(values)) ** 2 / np.mean(values**2)
    ratio *= (tilt**3 + 1) * (tilt + 1) / (tilt**2 + 1) ** 2
    return float(_SHAPES[np.argmin((_RATIOS - ratio) ** 2)]), float(left), float(right)


def shifted(block: Numbers) -> list[Numbers]:
    return [block * np.roll(block, shift, (0, 1)) for shift in ((0, 1), (1, 0), (1, 1), (1, -1))]


def brisque_features(pixels: Pixels) -> Numbers:
    plane, features = luma(pixels), []
    for _ in range(2):
        block = normalised(plane, "constant")
        square = np.mean(block**2)
        shape = _SHAPES[np.argmin(np.abs(square / np.mean(np.abs(block)) ** 2 - 1 / _RATIOS))]
        features += [shape, square]
        for pair in shifted(block):
            shape, left, right = asymmetric(pair)
            scale = np.sqrt(gamma(1 / shape) / gamma(3 / shape))
            features += [shape, (right - left) * gamma(2 / shape) / gamma(1 / shape) * scale, left**2, right**2]
        plane = half(plane)
    return np.array(features)


def niqe(pixels: Pixels, mean: Numbers, covariance: Numbers) -> float:
    plane = luma(pixels)
    plane = plane[: len(plane) // 96 * 96, : plane.shape[1] // 96 * 96]
    sizes = []
    for side in (96, 48):
        whole = normalised(plane, "nearest")
        blocks = []
        for top in range(0, len(whole), side):
            for left_edge in range(0, whole.shape[1], side):
                blocks.append(_niqe_block(whole[top : top + side, left_edge : left_edge + side]))
        sizes.append(np.array(blocks))
        plane = half(plane)
    features = np.hstack(sizes)
    apart = mean - features.mean(axis=0)
    return float(np.sqrt(apart @ np.linalg.pinv((covariance + np.cov(features.T)) / 2) @ apart))


def _niqe_block(block: Numbers) -> list[float]:
    shape, left, right = asymmetric(block)
    features = [shape, (left + right) / 2 * np.sqrt(gamma(1 / shape) / gamma(3 / shape))]
    for pair in shifted(block):
        shape, left, right = asymmetric(pair)
        scale = np.sqrt(gamma(1 / shape) / gamma(3 / shape))
        features += [shape, (right - left) * scale * gamma(2 / shape) / gamma(1 / shape), left * scale, right * scale]
    return features


def piqe(pixels: Pixels) -> float:
    plane = luma(pixels)
    plane = np.floor(255 * (plane / plane.max()) + 0.5)
    height, width = plane.shape
    plane = normalised(np.pad(plane, ((0, -height % 16), (0, -width % 16)), mode="symmetric"), "nearest")
    damage, busy = 0.0, 0
    for top in range(0, height, 16):
        for left in range(0, width, 16):
            block = plane[top : top + 16, left : left + 16]
            variance = block.var(ddof=1)
            if variance <= 0.1:
                continue
            busy += 1
            sides = (block[0], block[-1], block[:, 0], block[:, -1])
            even = any(side[place : place + 6].std(ddof=1) < 0.1 for side in sides for place in range(11))
            around = np.delete(np.delete(block, 7, axis=1), 8, axis=1)
            ratio = block[:, 7:9].std(ddof=1) / around.std(ddof=1)
            deviation = np.sqrt(variance)
            noisy = deviation > 2 * abs(deviation - ratio) / max(deviation, ratio)
            damage += even * (1 - variance) + noisy * variance
    return 100 * (damage + 1) / (busy + 1)
