"""Stages that several pictures share: window light for mirrors, skies, patches of sun, projected points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from convergebench.images.pictures.colour import smoothstep
from convergebench.images.pictures.march import Camera
from convergebench.images.pictures.sheet import Colours, Plane
from convergebench.images.pictures.world import Triple, Vector

Surroundings = Callable[[Vector, Plane | float], Colours]
Mask = Callable[[Plane, Plane, Plane], Plane]


def window_glow(towards: Triple, warm: Plane, dim: Plane) -> Surroundings:
    """Surroundings of a room with one bright window and dim walls, for mirrors."""
    axis = np.array(towards) / np.linalg.norm(towards)
    side = np.cross(axis, (0.0, 1.0, 0.0))
    side /= np.linalg.norm(side)
    over = np.cross(side, axis)

    def along(vector: Plane, direction: Vector) -> Plane:
        x, y, z = (np.float32(a) * d for a, d in zip(vector, direction, strict=True))
        total: Plane = x + y + z
        return total

    def seen(direction: Vector, rough: Plane | float) -> Colours:
        ahead = along(axis, direction)
        across = along(side, direction) / np.maximum(ahead, 0.05)
        upward = along(over, direction) / np.maximum(ahead, 0.05)
        blur = np.float32(0.03) + np.asarray(rough, dtype=np.float32) * np.float32(0.8)
        inside = _soft(0.34 - np.abs(across), blur) * _soft(0.42 - np.abs(upward), blur)
        bars = _soft(np.abs(across) - 0.018, blur) * _soft(np.abs(upward - 0.05) - 0.018, blur)
        pane = np.where(ahead > 0.05, inside * bars, 0.0)
        walls = 0.7 + 0.3 * direction[1]
        return np.stack([np.float32(dim[c]) * walls + np.float32(warm[c]) * pane for c in range(3)])

    return seen


def _soft(depth: Plane, blur: Plane) -> Plane:
    return smoothstep(0.0, 1.0, depth / blur + np.float32(0.5))


def sun_through(
    window: tuple[float, float, float, float], towards: Triple, *, axis: int, at: float, panes: tuple[int, int] = (2, 2)
) -> Mask:
    """Sunlight let in by a window in the plane `axis` = `at`; the window is (low, high) along the other two axes."""
    low_u, high_u, low_v, high_v = window
    bar = 0.035

    def mask(x: Plane, y: Plane, z: Plane) -> Plane:
        place = (x, y, z)
        far = (np.float32(at) - place[axis]) / np.float32(towards[axis])
        u = place[2 if axis == 0 else 0] + far * np.float32(towards[2 if axis == 0 else 0])
        v = y + far * np.float32(towards[1])
        blur = np.float32(0.01) + np.abs(far) * np.float32(0.02)
        open_ = _soft(np.minimum(u - low_u, high_u - u), blur) * _soft(np.minimum(v - low_v, high_v - v), blur)
        for value, low, high, count in ((u, low_u, high_u, panes[0]), (v, low_v, high_v, panes[1])):
            wide = (high - low) / count
            inside = np.abs(
                np.mod(value - np.float32(low) + np.float32(wide / 2), np.float32(wide)) - np.float32(wide / 2)
            )
            open_ = open_ * _soft(inside - np.float32(bar), blur)
        return np.where(far > 0, open_, 0.0)

    return mask


def project(camera: Camera, point: Triple) -> tuple[float, float]:
    """Sheet position of a point in space."""
    eye = np.array(camera.eye)
    ahead = np.array(camera.target) - eye
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, (0.0, 1.0, 0.0))
    right /= np.linalg.norm(right)
    away = np.array(point) - eye
    depth = float(away @ ahead)
    return (
        float(away @ right) * camera.zoom / depth + camera.shift[0],
        -float(away @ np.cross(right, ahead)) * camera.zoom / depth + camera.shift[1],
    )
