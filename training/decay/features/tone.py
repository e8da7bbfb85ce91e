"""Colours and tones: saturation, clipped ends, combs in the histogram, how channels correlate."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Pixels, Plane
from training.decay.features.texture import sample


def tone_features(pixels: Pixels, blue: Plane, red: Plane) -> dict[str, float]:
    """Numbers about tones and colours; `blue` and `red` are the chroma planes around 0."""
    found: dict[str, float] = {}
    counts = np.stack([np.bincount(pixels[..., channel].ravel(), minlength=256) for channel in range(3)]) + 0.0
    share = counts / counts.sum(axis=1, keepdims=True)
    found["black"] = float(np.log(share[:, :3].sum(axis=1).mean() + 1e-3))
    found["white"] = float(np.log(share[:, 253:].sum(axis=1).mean() + 1e-3))
    inner = share[:, 4:252]
    rough = np.abs(inner[:, 1:-1] - (inner[:, :-2] + inner[:, 2:]) / 2).sum(axis=1)
    found["comb"] = float(np.log(rough.mean() + 0.02))
    saturation = np.hypot(blue, red)
    colour = sample(np.asarray(saturation, np.float32))
    found["vivid"] = float(np.log(np.quantile(colour, 0.95) + 2))
    found["vivid-to-middle"] = float(np.log((np.quantile(colour, 0.95) + 2) / (np.median(colour) + 2)))
    return {f"tone-{name}": value for name, value in found.items()}


def channel_features(pixels: Pixels) -> dict[str, float]:
    """How the finest detail of red, green and blue goes together, everywhere and in the most even half."""
    planes = pixels.astype(np.float32)
    detail = planes - cv2.GaussianBlur(planes, (0, 0), 1.0)
    red, green, blue = (detail[..., channel] for channel in range(3))
    found = {"red-green": _together(red, green), "blue-green": _together(blue, green)}
    energy = np.asarray(cv2.GaussianBlur(np.square(detail).sum(axis=2), (0, 0), 3.0), np.float32)
    even = energy <= np.median(sample(energy))
    found["red-green-even"] = _together(red[even], green[even])
    found["blue-green-even"] = _together(blue[even], green[even])
    return {f"channel-{name}": value for name, value in found.items()}


def _together(one: Plane, other: Plane) -> float:
    product = float((one * other).mean())
    return product / (float(np.sqrt(np.square(one).mean() * np.square(other).mean())) + 0.05)
