"""The head as a solid: skull, face, ears, neck, and where its features lie.

Head coordinates: the eyes' line is y = 0, half the face's width is 1, x to the viewer's right, z to the viewer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convergebench.images.pictures.sheet import Plane
from convergebench.images.pictures.solid import capsule, carve, ellipsoid, join, length2, sphere

EYE_X, EYE_Z, EYE_RADIUS = 0.40, 0.50, 0.262


@dataclass(frozen=True, slots=True)
class Features:
    """What makes one face differ from another; 0 is the middle, −1…1 the usual range."""

    jaw: float
    chin: float
    nose_width: float
    nose_length: float
    lips: float
    smile: float
    eye_size: float
    eye_tilt: float
    cheeks: float
    brow: float

    @staticmethod
    def drawn(rng: np.random.Generator) -> Features:
        """A face by chance."""
        return Features(*(float(v) for v in np.clip(rng.normal(0.0, 0.55, 10), -1, 1)))

    @property
    def eye_width(self) -> float:
        """Half the width of the eye's opening."""
        return 0.212 + 0.016 * self.eye_size

    @property
    def mouth_width(self) -> float:
        """Half the width of the mouth."""
        return 0.31 + 0.03 * self.smile + 0.012 * self.lips

    def mouth_line(self, x: Plane) -> Plane:
        """Height of the line between the lips."""
        t = x / self.mouth_width
        found: Plane = -0.915 + (0.028 + 0.022 * self.smile) * t * t + 0.010 * np.exp(-np.square(x / 0.07)) * -1
        return found


def almond(features: Features, a: Plane, y: Plane) -> Plane:
    """Distance from the eye's opening in the plane, negative inside; `a` is |x|."""
    tilt = 0.07 + 0.05 * features.eye_tilt
    u, v = a - EYE_X, y - (a - EYE_X) * tilt
    width = features.eye_width
    upper, lower = 0.098 + 0.013 * features.eye_size, 0.070 + 0.008 * features.eye_size
    round_up = (width * width + upper * upper) / (2 * upper)
    round_low = (width * width + lower * lower) / (2 * lower)
    found: Plane = np.maximum(
        length2(u + 0.02, v - (upper - round_up)) - round_up, length2(u - 0.01, v + (lower - round_low)) - round_low
    )
    return found


def skull(f: Features, x: Plane, y: Plane, z: Plane) -> Plane:
    """Skin of head, ears, neck and chest. Features are worked out only for points near them."""
    a = np.abs(x)
    body = _bone(f, x, a, y, z)
    before = (z > 0.15) & (y < 0.55) & (y > -1.35)
    beside = (a > 0.7) & (y > -0.6) & (y < 0.5)
    near = body < 0.45
    # what is left out sticks out: points further off must not step past it
    body = np.where(near, body, body - 0.24 * before - 0.12 * beside)
    front = np.nonzero(near & before)
    if front[0].size:
        body[front] = _features(f, body[front], x[front], y[front], z[front])
    side = np.nonzero(near & beside)
    if side[0].size:
        body[side] = join(body[side], _ear(a[side], y[side], z[side]), 0.03)
    low = np.nonzero(y < -0.7)
    if low[0].size:
        body[low] = join(body[low], _neck(a[low], x[low], y[low], z[low]), 0.16)
    return body


def silhouette(f: Features, x: Plane, y: Plane, z: Plane) -> Plane:
    """The head as its shadow needs it: no lids, lips or ears."""
    a = np.abs(x)
    body = _bone(f, x, a, y, z)
    near = np.nonzero((body < 0.3) & (z > 0.3) & (y < 0.55) & (y > -0.8))
    if near[0].size:
        px, pa, py, pz = x[near], a[near], y[near], z[near]
        part = join(body[near], ellipsoid(pa, py, pz, at=(0.36, 0.27, 0.60), radii=(0.34, 0.1, 0.2)), 0.16)
        part = carve(part, ellipsoid(pa, py, pz, at=(0.38, 0.03, 1.0), radii=(0.26, 0.15, 0.26)), 0.22)
        tip = -0.50 - 0.04 * f.nose_length
        ridge = capsule(px, py, pz, start=(0, 0.16, 0.68), end=(0, tip, 0.94), radii=(0.085, 0.12))
        body[near] = join(part, ridge, 0.14)
    low = np.nonzero(y < -0.7)
    if low[0].size:
        body[low] = join(body[low], _neck(a[low], x[low], y[low], z[low]), 0.16)
    return body


def _bone(f: Features, x: Plane, a: Plane, y: Plane, z: Plane) -> Plane:
    """The head without its features."""
    body = ellipsoid(x, y, z, at=(0, 0.42, -0.28), radii=(0.97, 1.0, 1.12))
    face = ellipsoid(x, y, z, at=(0, -0.26, 0.02), radii=(0.80 + 0.03 * f.cheeks, 1.02, 0.86))
    body = join(body, face, 0.3)
    jaw = ellipsoid(a, y, z, at=(0.26 + 0.05 * f.jaw, -0.82, 0.16), radii=(0.30, 0.30, 0.42))
    body = join(body, jaw, 0.3)
    chin = ellipsoid(x, y, z, at=(0, -1.14 - 0.04 * f.chin, 0.47), radii=(0.22 + 0.04 * f.jaw, 0.18, 0.26))
    return join(body, chin, 0.3)


def _features(f: Features, body: Plane, x: Plane, y: Plane, z: Plane) -> Plane:
    a = np.abs(x)
    body = join(body, ellipsoid(a, y, z, at=(0.47, -0.36, 0.45), radii=(0.24, 0.2, 0.26)), 0.3)
    body = join(body, ellipsoid(a, y, z, at=(0.36, 0.27, 0.60), radii=(0.34, 0.10 + 0.015 * f.brow, 0.2)), 0.16)
    body = carve(body, ellipsoid(a, y, z, at=(0.38, 0.03, 1.0), radii=(0.26, 0.15, 0.26)), 0.22)
    body = _mouth(f, body, x, a, y, z)
    body = _nose(f, body, x, a, y, z)
    body = join(body, sphere(a, y, z, at=(EYE_X, 0, EYE_Z), radius=EYE_RADIUS + 0.024), 0.09)
    return carve(body, np.maximum(almond(f, a, y), 0.3 - z), 0.02)


def _mouth(f: Features, body: Plane, x: Plane, a: Plane, y: Plane, z: Plane) -> Plane:
    full = 1.15 + 0.22 * f.lips
    lift = y - f.mouth_line(x)
    body = join(body, ellipsoid(x, y, z, at=(0, -0.88, 0.58), radii=(0.36, 0.28, 0.25)), 0.22)
    upper = ellipsoid(a, lift, z, at=(0.095, 0.042, 0.785), radii=(0.17, 0.05 * full, 0.085))
    lower = ellipsoid(x, lift, z, at=(0, -0.062, 0.775), radii=(0.205, 0.066 * full, 0.105))
    body = join(body, upper, 0.07)
    body = join(body, lower, 0.07)
    line = ellipsoid(x, lift, z, at=(0, 0.0, 0.9), radii=(f.mouth_width * 0.97, 0.011, 0.10))
    body = carve(body, line, 0.035)
    corner = sphere(a, lift, z, at=(f.mouth_width + 0.015, 0.0, 0.80), radius=0.022)
    return carve(body, corner, 0.10)


def _nose(f: Features, body: Plane, x: Plane, a: Plane, y: Plane, z: Plane) -> Plane:
    tip = -0.50 - 0.04 * f.nose_length
    wide = 1 + 0.18 * f.nose_width
    bridge = capsule(x, y, z, start=(0, 0.16, 0.68), end=(0, tip + 0.1, 0.93), radii=(0.085 * wide, 0.095 * wide))
    body = join(body, bridge, 0.14)
    body = join(body, sphere(x, y, z, at=(0, tip, 0.955), radius=0.118 * wide), 0.09)
    wing = ellipsoid(a, y, z, at=(0.148 * wide, tip - 0.045, 0.85), radii=(0.078 * wide, 0.08, 0.11))
    body = join(body, wing, 0.055)
    nostril = ellipsoid(a, y, z, at=(0.08 * wide, tip - 0.105, 0.945), radii=(0.045 * wide, 0.032, 0.07))
    return carve(body, nostril, 0.03)


def _ear(a: Plane, y: Plane, z: Plane) -> Plane:
    out = a - 0.42 * (y + 0.05) * 0.18
    shell = ellipsoid(out, y, z, at=(0.925, 0.0, -0.14), radii=(0.16, 0.29, 0.15))
    lobe = ellipsoid(out, y, z, at=(0.875, -0.28, -0.08), radii=(0.09, 0.115, 0.09))
    shell = join(shell, lobe, 0.1)
    bowl = ellipsoid(out, y, z, at=(0.965, -0.02, 0.02), radii=(0.075, 0.17, 0.12))
    fold = ellipsoid(out, y, z, at=(1.005, 0.12, 0.0), radii=(0.045, 0.13, 0.10))
    return carve(carve(shell, bowl, 0.06), fold, 0.05)


def _neck(a: Plane, x: Plane, y: Plane, z: Plane) -> Plane:
    neck = capsule(x, y, z, start=(0, -0.8, -0.32), end=(0, -2.3, -0.52), radii=(0.5, 0.52))
    chest = ellipsoid(x, y, z, at=(0, -3.15, -0.55), radii=(1.75, 1.25, 0.75))
    shoulders = capsule(a, y, z, start=(0.25, -2.25, -0.62), end=(1.5, -2.62, -0.62), radii=(0.36, 0.5))
    body = join(neck, join(chest, shoulders, 0.4), 0.45)
    cords = capsule(a, y, z, start=(0.42, -1.15, -0.12), end=(0.09, -2.08, -0.03), radii=(0.09, 0.07))
    body = join(body, cords, 0.16)
    bones = capsule(a, y, z, start=(0.14, -2.14, 0.0), end=(0.85, -2.13, -0.24), radii=(0.06, 0.05))
    return join(body, bones, 0.2)


def torso(a: Plane, x: Plane, y: Plane, z: Plane, *, thick: float) -> Plane:
    """The upper body with clothes of some thickness, without the neck."""
    chest = ellipsoid(x, y, z, at=(0, -3.15, -0.55), radii=(1.75, 1.25, 0.75))
    shoulders = capsule(a, y, z, start=(0.25, -2.25, -0.62), end=(1.5, -2.62, -0.62), radii=(0.36, 0.5))
    return join(chest, shoulders, 0.4) - thick
