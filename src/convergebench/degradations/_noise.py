"""Randomness of the picture's own: sensor noise, film grain, and slow clouds for stains and uneven fading."""

from __future__ import annotations

import math

import cv2
import numpy as np

from convergebench.degradations._psf import softened
from convergebench.images.frame import Plane

_LUMINANCE = np.array([0.2126, 0.7152, 0.0722], np.float32)
"""Share of each channel in what the eye sees as bright, in linear light."""


def white(shape: tuple[int, ...], draw: np.random.Generator) -> Plane:
    """Independent normal values of mean 0 and width 1."""
    return draw.standard_normal(shape, dtype=np.float32)


def exposed(light: Plane, draw: np.random.Generator, *, shot: float, read: float) -> Plane:
    """Light as a sensor counts it: noise that grows with the light (variance `shot` × light), and `read` everywhere."""
    width = np.sqrt(np.float32(shot) * np.maximum(light, 0) + np.float32(read**2))
    return np.asarray(light + width * white(light.shape, draw), np.float32)


def grain(values: Plane, draw: np.random.Generator, *, amount: float, size: float) -> Plane:
    """What film grain adds to display values: one plane for all channels, mean 0, widest in the middle tones.

    Opaque grains that cover a share p of a spot have a variance of p (1 − p) there: none on clear or black film.
    """
    tone = np.clip(values if values.ndim == 2 else luma(values), 0, 1)
    texture = softened(white(tone.shape, draw), size)
    texture -= texture.mean()
    texture /= max(float(texture.std()), 1e-6)
    return np.asarray(2 * amount * np.sqrt(tone * (1 - tone)) * texture, np.float32)


def luma(values: Plane) -> Plane:
    """Brightness of three channels."""
    return np.asarray(values @ _LUMINANCE, np.float32)


def clouds(shape: tuple[int, int], draw: np.random.Generator, *, cell: float, octaves: int = 3) -> Plane:
    """A smooth random plane of mean about 0 and width about 1; `cell` is the size of its largest lumps in pixels."""
    height, width = shape
    total, power = np.zeros(shape, np.float32), 0.0
    for octave in range(octaves):
        side, weight = max(cell / 2**octave, 1.0), 0.5**octave
        rows, columns = math.ceil(height / side) + 3, math.ceil(width / side) + 3
        coarse = white((rows, columns), draw)
        right = (np.arange(width, dtype=np.float32) / side + 1)[None, :].repeat(height, 0)
        down = (np.arange(height, dtype=np.float32) / side + 1)[:, None].repeat(width, 1)
        lumps = cv2.remap(coarse, right, down, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)
        total += np.float32(weight) * lumps
        power += 0.75 * weight**2  # interpolation between cells takes a quarter of the variance
    return total / np.float32(math.sqrt(power))
