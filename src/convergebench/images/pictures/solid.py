"""Distance functions of solid shapes, in the manner of signed distance fields.

Points come as three arrays (x right, y up, z towards the viewer); a distance is negative inside. Shapes are
built from a few primitives, joined softly so that light runs over the joints as it does over skin or clay.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from convergebench.images.pictures.sheet import Plane

Point = tuple[float, float, float]


def length2(a: Plane, b: Plane) -> Plane:
    """Length of a two-component vector."""
    return np.sqrt(a * a + b * b)


def length3(a: Plane, b: Plane, c: Plane) -> Plane:
    """Length of a three-component vector."""
    return np.sqrt(a * a + b * b + c * c)


def sphere(x: Plane, y: Plane, z: Plane, *, at: Point, radius: float) -> Plane:
    """A ball."""
    return length3(x - at[0], y - at[1], z - at[2]) - radius


def ellipsoid(x: Plane, y: Plane, z: Plane, *, at: Point, radii: Point) -> Plane:
    """An ellipsoid along the axes (the usual first-order bound, exact near the surface)."""
    ax, ay, az = (x - at[0]) / radii[0], (y - at[1]) / radii[1], (z - at[2]) / radii[2]
    k0 = length3(ax, ay, az)
    k1 = length3(ax / radii[0], ay / radii[1], az / radii[2])
    return k0 * (k0 - 1.0) / np.maximum(k1, 1e-6)


def box(x: Plane, y: Plane, z: Plane, *, at: Point, half: Point, round: float = 0.02) -> Plane:
    """A box with rounded edges; `half` are half sizes including the rounding."""
    qx = np.abs(x - at[0]) - (half[0] - round)
    qy = np.abs(y - at[1]) - (half[1] - round)
    qz = np.abs(z - at[2]) - (half[2] - round)
    outside = length3(np.maximum(qx, 0.0), np.maximum(qy, 0.0), np.maximum(qz, 0.0))
    found: Plane = outside + np.minimum(np.maximum(qx, np.maximum(qy, qz)), 0.0) - round
    return found


def capsule(x: Plane, y: Plane, z: Plane, *, start: Point, end: Point, radii: tuple[float, float]) -> Plane:
    """A rod with round ends, its radius going from the first to the second."""
    dx, dy, dz = (end[i] - start[i] for i in range(3))
    px, py, pz = x - start[0], y - start[1], z - start[2]
    along = np.clip((px * dx + py * dy + pz * dz) / (dx * dx + dy * dy + dz * dz), 0.0, 1.0)
    found: Plane = length3(px - dx * along, py - dy * along, pz - dz * along) - (
        radii[0] + (radii[1] - radii[0]) * along
    )
    return found


def cylinder(x: Plane, y: Plane, z: Plane, *, at: Point, radius: float, half: float, round: float = 0.02) -> Plane:
    """An upright cylinder with rounded rims."""
    qr = length2(x - at[0], z - at[2]) - (radius - round)
    qy = np.abs(y - at[1]) - (half - round)
    outside = length2(np.maximum(qr, 0.0), np.maximum(qy, 0.0))
    found: Plane = np.minimum(np.maximum(qr, qy), 0.0) + outside - round
    return found


def torus(x: Plane, y: Plane, z: Plane, *, at: Point, radii: tuple[float, float]) -> Plane:
    """A ring lying flat: ring radius, tube radius."""
    return length2(length2(x - at[0], z - at[2]) - radii[0], y - at[1]) - radii[1]


def lathe(x: Plane, y: Plane, z: Plane, *, profile: Plane, wall: float) -> Plane:
    """A turned shell of half thickness `wall` along a profile of (radius, height) points."""
    r = length2(x, z)
    best = np.full(r.shape, 1e9, dtype=np.float32)
    for (r0, y0), (r1, y1) in pairwise(profile):
        dr, dy = r1 - r0, y1 - y0
        pr, py = r - r0, y - y0
        along = np.clip((pr * dr + py * dy) / max(dr * dr + dy * dy, 1e-9), 0.0, 1.0)
        np.minimum(best, np.square(pr - dr * along) + np.square(py - dy * along), out=best)
    return np.sqrt(best) - wall


def join(first: Plane, second: Plane, softness: float) -> Plane:
    """Union whose joint is filleted over `softness`."""
    h = np.maximum(softness - np.abs(first - second), 0.0) / softness
    return np.minimum(first, second) - h * h * (softness * 0.25)


def carve(body: Plane, hole: Plane, softness: float) -> Plane:
    """Body less hole, with a filleted edge."""
    h = np.maximum(softness - np.abs(body + hole), 0.0) / softness
    return np.maximum(body, -hole) + h * h * (softness * 0.25)


def turn(a: Plane, b: Plane, angle: float) -> tuple[Plane, Plane]:
    """Two coordinates turned by an angle (radians)."""
    c, s = float(np.cos(angle)), float(np.sin(angle))
    return c * a + s * b, c * b - s * a


def rounded(profile: Plane, passes: int = 1) -> Plane:
    """A profile with its corners cut, twice for a smooth one (Chaikin)."""
    for _ in range(passes):
        first, second = profile[:-1] * 0.75 + profile[1:] * 0.25, profile[:-1] * 0.25 + profile[1:] * 0.75
        middle = np.stack([first, second], axis=1).reshape(-1, 2)
        profile = np.concatenate([profile[:1], middle[1:-1], profile[-1:]]).astype(np.float32)
    return profile
