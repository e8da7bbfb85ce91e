"""Seamless tiles of natural texture, read at any place and any distance without aliasing."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.pictures.sheet import Plane

SIDE = 512


class Texture:
    """A seamless square tile. Its coordinates are in tiles; each further level is half as fine."""

    def __init__(self, tile: Plane) -> None:
        self.levels = [np.ascontiguousarray(tile, dtype=np.float32)]
        while self.levels[-1].shape[0] > 8:
            half = cv2.resize(self.levels[-1], None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
            self.levels.append(np.asarray(half, dtype=np.float32))

    def __call__(self, u: Plane, v: Plane, wide: Plane | float = 0.0) -> Plane:
        """The tile at (u, v), blurred to a pixel `wide` tiles across."""
        shape = np.broadcast_shapes(np.shape(u), np.shape(v))
        flat_u = np.ascontiguousarray(np.broadcast_to(u, shape), dtype=np.float32).ravel()
        flat_v = np.ascontiguousarray(np.broadcast_to(v, shape), dtype=np.float32).ravel()
        if np.ndim(wide) == 0 and wide * SIDE <= 1:
            return _read(self.levels[0], flat_u, flat_v).reshape(shape)
        footprint = np.broadcast_to(np.asarray(wide, dtype=np.float32), shape).ravel()
        level = np.clip(np.log2(np.maximum(footprint * SIDE, 1e-6)), 0.0, len(self.levels) - 1.001)
        out = np.zeros(flat_u.shape, dtype=np.float32)
        for number in range(int(level.min()), int(level.max()) + 2):
            if number >= len(self.levels):
                break
            weight = 1 - np.abs(level - number)
            index = np.nonzero(weight > 0)[0]
            if len(index):
                out[index] += weight[index] * _read(self.levels[number], flat_u[index], flat_v[index])
        return out.reshape(shape)


def _read(tile: Plane, u: Plane, v: Plane) -> Plane:
    """Bilinear reading with wrap-around."""
    side = tile.shape[0]
    columns = (u - np.floor(u)) * side - np.float32(0.5)
    rows = (v - np.floor(v)) * side - np.float32(0.5)
    padded = -(-len(u) // 512) * 512
    map_x = np.zeros(padded, dtype=np.float32)
    map_y = np.zeros(padded, dtype=np.float32)
    map_x[: len(u)], map_y[: len(u)] = columns, rows
    read = cv2.remap(tile, map_x.reshape(-1, 512), map_y.reshape(-1, 512), cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
    return np.asarray(read, dtype=np.float32).ravel()[: len(u)]


def clouds(
    rng: np.random.Generator, *, knots: tuple[int, int] = (4, 4), octaves: int = 6, gain: float = 0.55
) -> Texture:
    """Fractal noise in about −1…1. `knots`: across and down, of the coarsest octave."""
    total = np.zeros((SIDE, SIDE), dtype=np.float32)
    weight, norm = 1.0, 0.0
    for octave in range(octaves):
        columns, rows = knots[0] * 2**octave, knots[1] * 2**octave
        if columns > SIDE or rows > SIDE:
            break
        total += np.float32(weight) * _stretched(rng.random((rows, columns), dtype=np.float32) * 2 - 1)
        norm += weight * weight
        weight *= gain
    return Texture(total / np.float32(1.1 * norm**0.5))


def _stretched(lattice: Plane) -> Plane:
    """A lattice enlarged to a tile, seamlessly: a margin is wrapped round before and cut off after."""
    rows, columns = lattice.shape
    wrapped = np.pad(lattice, ((2, 2), (2, 2)), mode="wrap")
    tall, broad = SIDE * (rows + 4) // rows, SIDE * (columns + 4) // columns
    large = cv2.resize(wrapped, (broad, tall), interpolation=cv2.INTER_CUBIC)
    top, left = 2 * SIDE // rows, 2 * SIDE // columns
    return np.asarray(large[top : top + SIDE, left : left + SIDE], dtype=np.float32)


def weave(threads: int = 64) -> Texture:
    """Plain weave: height of crossing threads, 0…1."""
    t = (np.arange(SIDE, dtype=np.float32) + 0.5) / SIDE * threads
    across, down = t[None, :], t[:, None]
    over = (np.floor(across) + np.floor(down)) % 2
    warp_thread = np.sqrt(np.abs(np.sin(np.pi * across))) * (0.55 + 0.45 * np.abs(np.sin(np.pi * down)))
    weft_thread = np.sqrt(np.abs(np.sin(np.pi * down))) * (0.55 + 0.45 * np.abs(np.sin(np.pi * across)))
    return Texture(np.where(over > 0, warp_thread, weft_thread))


def speckles(rng: np.random.Generator, *, count: int, radius: tuple[float, float]) -> Texture:
    """Scattered soft dots, 0…1; radii in tiles."""
    tile = np.zeros((SIDE, SIDE), dtype=np.uint8)
    for x, y, size, tone in rng.random((count, 4)):
        pixels = (radius[0] + (radius[1] - radius[0]) * size * size) * SIDE
        centre = (int(x * SIDE * 16), int(y * SIDE * 16))
        cv2.circle(tile, centre, int(pixels * 16), int(110 + 145 * tone), -1, cv2.LINE_AA, 4)
    return Texture(tile.astype(np.float32) / 255)
