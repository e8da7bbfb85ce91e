"""What has settled in the paper of a print: water stains with dark rims, foxing, and the texture of the paper."""

from __future__ import annotations

import numpy as np

from convergebench.degradations._noise import clouds, white
from convergebench.degradations._psf import softened
from convergebench.images.frame import Plane

_MOST_STAINS, _MOST_SPOTS = 16, 400


def stains(shape: tuple[int, int], draw: np.random.Generator, *, count: float, scale: float) -> Plane:
    """Optical density of `count` dried puddles: weak inside, strong at the rim, where the dirt was carried to."""
    height, width = shape
    total = np.zeros(shape, np.float32)
    down, right = np.arange(height, dtype=np.float32)[:, None], np.arange(width, dtype=np.float32)[None, :]
    for number, own in enumerate(draw.spawn(_MOST_STAINS)):
        seen = min(1.0, count - number)
        if seen <= 0:
            break
        radius = max(2.0, float(np.exp(own.normal(4.6, 0.5))) * scale)
        middle = own.uniform(-0.05, 1.05, 2) * (height, width)
        stretch = own.uniform(0.7, 1.4)
        top, bottom = (int(np.clip(middle[0] + side * 1.8 * radius, 0, height)) for side in (-1, 1))
        left, end = (int(np.clip(middle[1] + side * 1.8 * radius * stretch, 0, width)) for side in (-1, 1))
        if bottom - top < 1 or end - left < 1:
            continue
        part = np.s_[top:bottom, left:end]
        far = np.hypot((down[top:bottom] - middle[0]) / radius, (right[:, left:end] - middle[1]) / (radius * stretch))
        far = far.astype(np.float32)
        far += 0.17 * clouds((bottom - top, end - left), own, cell=0.9 * radius, octaves=4)
        inside = 1 / (1 + np.exp(np.clip((far - 1) / 0.025, -30, 30)))
        rim = np.exp(-np.abs(far - np.float32(0.97)) / np.where(far < 0.97, 0.09, 0.02))
        strength = seen * own.uniform(0.35, 1.0)
        total[part] += np.float32(strength) * (0.07 * inside + 0.16 * rim * inside).astype(np.float32)
    return total


def foxing(shape: tuple[int, int], draw: np.random.Generator, *, count: float, scale: float) -> Plane:
    """Optical density of `count` small soft spots, in swarms."""
    places = draw.uniform(size=(_MOST_SPOTS, 2))
    swarm = draw.uniform(size=(6, 2))
    near = draw.uniform(size=_MOST_SPOTS) < 0.7
    drift = draw.normal(0, 0.09, (_MOST_SPOTS, 2))
    places = np.where(near[:, None], swarm[draw.integers(6, size=_MOST_SPOTS)] + drift, places)
    weight = np.exp(draw.normal(0, 0.8, _MOST_SPOTS))
    large = draw.uniform(size=_MOST_SPOTS) < 0.15
    total = np.zeros(shape, np.float32)
    for chosen, sigma in ((~large, 1.6), (large, 4.5)):
        points = np.zeros(shape, np.float32)
        spots = np.flatnonzero(chosen[: round(count)])
        rows, columns = (places[spots] * shape).astype(np.intp).T
        inside = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
        np.add.at(points, (rows[inside], columns[inside]), weight[spots][inside].astype(np.float32))
        wide = max(0.5, sigma * scale)
        total += softened(points, wide) * np.float32(0.05 * 2 * np.pi * wide**2)
    return np.minimum(total, np.float32(0.5))


def paper_texture(shape: tuple[int, int], draw: np.random.Generator, *, scale: float) -> Plane:
    """The tooth of the paper as a plane of mean 0 and width 1, lit from one side."""
    fibres = softened(white(shape, draw), max(0.35, 1.1 * scale))
    lit = fibres - np.roll(fibres, (1, 1), (0, 1))
    return np.asarray((lit - lit.mean()) / max(float(lit.std()), 1e-6), np.float32)
