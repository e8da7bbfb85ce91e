"""A small ray marcher: solids and planes in, light on the sheet out.

Rays are followed in blocks that fit the processor's cache. One cone per 8 × 8 pixels finds where its rays may
start; pixels on edges are traced again at four places, so outlines are smooth without tracing everything
four times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convergebench.images.pictures.lighting import shade
from convergebench.images.pictures.sheet import Colours, Plane, Sheet
from convergebench.images.pictures.world import Solid, Vector, World

FAR = np.float32(1e4)
CONE = 8
BLOCK_PIXELS = 1 << 17
CORNERS = ((-0.125, -0.375), (0.375, -0.125), (0.125, 0.375), (-0.375, 0.125))

Index = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Camera:
    """Where it is seen from. `zoom` is the focal length in half short sides; `flat` sees without perspective."""

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    zoom: float = 2.0
    flat: bool = False
    shift: tuple[float, float] = (0.0, 0.0)

    def rays(self, x: Plane, y: Plane) -> tuple[Vector, Vector, float]:
        """Origins, directions, and how wide a sheet unit is at distance 1 (or everywhere, when flat)."""
        eye, target = np.array(self.eye, dtype=np.float64), np.array(self.target, dtype=np.float64)
        ahead = (target - eye) / np.linalg.norm(target - eye)
        right = np.cross(ahead, (0.0, 1.0, 0.0))
        right /= np.linalg.norm(right)
        up = np.cross(right, ahead)
        px, py = x - np.float32(self.shift[0]), -(y - np.float32(self.shift[1]))
        axes = [tuple(np.float32(v) for v in axis) for axis in (right, up, ahead)]
        if self.flat:
            origin = [
                np.float32(eye[i]) + (px * axes[0][i] + py * axes[1][i]) / np.float32(self.zoom) for i in range(3)
            ]
            return _vector(origin), _vector([np.full_like(px, axes[2][i]) for i in range(3)]), 1 / self.zoom
        raw = [px * axes[0][i] + py * axes[1][i] + np.float32(self.zoom) * axes[2][i] for i in range(3)]
        norm = 1 / np.sqrt(raw[0] ** 2 + raw[1] ** 2 + raw[2] ** 2)
        start = [np.full_like(px, np.float32(eye[i])) for i in range(3)]
        return _vector(start), _vector([v * norm for v in raw]), 1 / self.zoom

    def width_at(self, distance: Plane, spread: float) -> Plane:
        """Size of a sheet unit at a distance along a ray."""
        return np.full_like(distance, spread) if self.flat else distance * np.float32(spread)


def _vector(parts: Sequence[Plane]) -> Vector:
    return parts[0], parts[1], parts[2]


def paint(sheet: Sheet, world: World, camera: Camera) -> Colours:
    """The world's light on the sheet, antialiased."""
    light = np.empty((3, sheet.height, sheet.width), dtype=np.float32)
    which = np.empty((sheet.height, sheet.width), dtype=np.int16)
    depth = np.empty((sheet.height, sheet.width), dtype=np.float32)
    starts = _cones(sheet, world, camera)
    tall = max(8, BLOCK_PIXELS // sheet.width // 2 * 2)
    for top in range(0, sheet.height, tall):
        rows = slice(top, min(top + tall, sheet.height))
        x, y = np.broadcast_arrays(sheet.x, sheet.y[rows])
        colour, ids, t = trace(
            world,
            camera,
            x.ravel(),
            y.ravel(),
            pixel=sheet.pixel,
            starts=_spread(starts, rows, x),
            shape=(x.shape[0], x.shape[1]),
        )
        shape = x.shape
        light[:, rows] = colour.reshape(3, *shape)
        which[rows], depth[rows] = ids.reshape(shape), t.reshape(shape)
    _smooth_edges(sheet, world, camera, light, starts=starts, places=_edges(which, depth))
    return light


def _edges(which: NDArray[np.int16], depth: Plane) -> tuple[Index, Index]:
    """Pixels at the border of two things, or at a jump in depth."""
    found = np.zeros(which.shape, dtype=bool)
    for axis in (0, 1):
        ids = np.diff(which, axis=axis) != 0
        jump = np.abs(np.diff(np.log(np.maximum(depth, 1e-3)), axis=axis)) > 0.02
        step = ids | jump
        low = (slice(None, -1), slice(None)) if axis == 0 else (slice(None), slice(None, -1))
        high = (slice(1, None), slice(None)) if axis == 0 else (slice(None), slice(1, None))
        found[low] |= step
        found[high] |= step
    rows, columns = np.nonzero(found)
    return rows, columns


def _smooth_edges(
    sheet: Sheet, world: World, camera: Camera, light: Colours, *, starts: list[Plane], places: tuple[Index, Index]
) -> None:
    rows, columns = places
    across = np.float32(sheet.pixel) * np.array([corner[0] for corner in CORNERS], dtype=np.float32)[:, None]
    down = np.float32(sheet.pixel) * np.array([corner[1] for corner in CORNERS], dtype=np.float32)[:, None]
    for first in range(0, len(rows), 1 << 15):
        r, c = rows[first : first + (1 << 15)], columns[first : first + (1 << 15)]
        ahead = [np.tile(grid[r // CONE, c // CONE], len(CORNERS)) for grid in starts]
        x, y = (sheet.x[0, c] + across).ravel(), (sheet.y[r, 0] + down).ravel()
        traced = trace(world, camera, x, y, pixel=sheet.pixel, starts=ahead)[0]
        # bright edges are held back so that they average as the eye sees them
        light[:, r, c] = np.minimum(traced, 1.6).reshape(3, len(CORNERS), -1).mean(axis=1)


def _cones(sheet: Sheet, world: World, camera: Camera) -> list[Plane]:
    """Per solid, how far each 8 × 8 block's cone may go before it could touch (FAR: never)."""
    columns, rows = -(-sheet.width // CONE), -(-sheet.height // CONE)
    x = ((np.arange(columns, dtype=np.float32) + 0.5) * CONE) / np.float32(sheet.unit) - np.float32(sheet.right)
    y = ((np.arange(rows, dtype=np.float32) + 0.5) * CONE) / np.float32(sheet.unit) - np.float32(sheet.bottom)
    px, py = (v.ravel() for v in np.broadcast_arrays(x[None, :], y[:, None]))
    origin, direction, spread = camera.rays(px, py)
    wide = spread * sheet.pixel * CONE * 0.8
    found = []
    for solid in world.solids:
        t = np.full(px.shape, FAR, dtype=np.float32)
        index, near, far = _window(solid, origin, direction, wide, None if camera.flat else wide)
        reach = _march(solid, origin, direction, index, near, far, cone=wide, flat=camera.flat)
        t[index] = reach
        found.append(t.reshape(rows, columns))
    return found


def _spread(starts: list[Plane], rows: slice, like: Plane) -> list[Plane]:
    """The cones' starts for the pixels of some rows."""
    out = []
    for grid in starts:
        lines = grid[np.arange(rows.start, rows.stop) // CONE]
        out.append(np.repeat(lines, CONE, axis=1)[:, : like.shape[1]].ravel())
    return out


def _window(
    solid: Solid, origin: Vector, direction: Vector, margin: float, grow: float | None
) -> tuple[Index, Plane, Plane]:
    """Rays that meet the bounding ball, with where they enter and leave it."""
    ox, oy, oz = (np.float32(c) - o for c, o in zip(solid.centre, origin, strict=True))
    along = ox * direction[0] + oy * direction[1] + oz * direction[2]
    radius = solid.radius + (margin if grow is None else grow * np.maximum(along, 0.0))
    reach = np.square(radius) - (ox * ox + oy * oy + oz * oz - along * along)
    index = np.nonzero((reach > 0) & (along + radius > 0))[0]
    half = np.sqrt(reach[index])
    return index, np.maximum(along[index] - half, 1e-3), along[index] + half


def _march(
    solid: Solid,
    origin: Vector,
    direction: Vector,
    index: Index,
    near: Plane,
    far: Plane,
    *,
    cone: float,
    flat: bool = False,
    limit: int = 28,
) -> Plane:
    """Distance at which each ray of `index` comes within the cone's radius of the solid; FAR for misses."""
    out = np.full(index.shape, FAR, dtype=np.float32)
    alive = np.arange(len(index))
    t = near.astype(np.float32)
    o = [part[index] for part in origin]
    d = [part[index] for part in direction]
    far = far.astype(np.float32)
    for _ in range(limit):
        if not len(alive):
            break
        distance = solid.distance(o[0] + d[0] * t, o[1] + d[1] * t, o[2] + d[2] * t)
        close = distance < (cone if flat else cone * t)
        out[alive[close]] = t[close]
        t = t + distance * np.float32(solid.step)
        keep = ~close & (t < far)
        alive, t, far = alive[keep], t[keep], far[keep]
        o, d = [part[keep] for part in o], [part[keep] for part in d]
    else:
        # rays that still creep along a surface are as good as there
        there = distance[keep] < 6 * cone * (1.0 if flat else t)
        out[alive[there]] = t[there]
    return out


def trace(
    world: World,
    camera: Camera,
    x: Plane,
    y: Plane,
    *,
    pixel: float,
    starts: list[Plane],
    shape: tuple[int, int] | None = None,
) -> tuple[Colours, NDArray[np.int16], Plane]:
    """Colour, number of the thing seen and distance, for sheet positions."""
    origin, direction, spread = camera.rays(x, y)
    t = np.full(x.shape, FAR, dtype=np.float32)
    ids = np.full(x.shape, -1, dtype=np.int16)
    for number, flat in enumerate(world.walls):
        meets = flat.meet(origin, direction)
        nearer = meets < t
        t[nearer], ids[nearer] = meets[nearer], number
    exact = spread * pixel * 0.4
    for number, solid in enumerate(world.solids, start=len(world.walls)):
        ahead = starts[number - len(world.walls)]
        possible = np.nonzero(ahead < t)[0]
        if not len(possible):
            continue
        some = _vector([part[possible] for part in origin]), _vector([part[possible] for part in direction])
        inside, near, far = _window(solid, some[0], some[1], 0.0, None)
        index = possible[inside]
        near = np.maximum(near, ahead[index])
        keep = near < far
        index, near, far = index[keep], near[keep], far[keep]
        if not len(index):
            continue
        meets = _march(solid, origin, direction, index, near, far, cone=exact, flat=camera.flat)
        nearer = meets < t[index]
        t[index[nearer]], ids[index[nearer]] = meets[nearer], number
    wide = camera.width_at(np.minimum(t, 100), spread * pixel)
    return shade(world, origin, direction, t, ids, wide, shape=shape), ids, t
