"""Hair: its volume in several styles, and its strands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from convergebench.images.pictures.colour import mix, smoothstep
from convergebench.images.pictures.material import fill
from convergebench.images.pictures.sheet import Plane
from convergebench.images.pictures.solid import carve, ellipsoid, join, length2, sphere
from convergebench.images.pictures.texture import Texture, clouds
from convergebench.images.pictures.world import Hit, Surface, dot, unit

Style = Literal["crop", "long", "bun", "curls", "swept"]
STYLES: tuple[Style, ...] = ("crop", "long", "bun", "curls", "swept")


@dataclass(frozen=True)
class Hair:
    """One head of hair. `side` is where the parting lies, −1…1."""

    style: Style
    colour: Plane
    side: float
    strands: Texture
    locks: Texture

    @staticmethod
    def drawn(rng: np.random.Generator, colour: Plane, style: Style | None = None) -> Hair:
        """Hair by chance."""
        chosen = style if style is not None else STYLES[rng.integers(len(STYLES))]
        side = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.25, 0.5))
        return Hair(
            chosen,
            colour,
            side,
            strands=clouds(rng, knots=(128, 2), octaves=3, gain=0.8),
            locks=clouds(rng, knots=(20, 3), octaves=3, gain=0.6)
            if chosen != "curls"
            else clouds(rng, knots=(22, 22), octaves=3, gain=0.6),
        )

    def flow(self, x: Plane, y: Plane, z: Plane) -> tuple[Plane, Plane]:
        """Which strand a point belongs to (turns), and how far along it is."""
        root_x, root_y = self._root
        angle = np.arctan2(x - root_x, y - root_y)
        radius = length2(x - root_x, y - root_y)
        u = angle * np.float32(0.5 / np.pi) + np.float32(0.012) * np.sin(radius * 5 + z * 3 + angle * 4)
        low = smoothstep(-0.1, -0.6, y)
        u = u * (1 - low) + (x * np.float32(0.34) + np.float32(0.03) * np.sin(y * 2.5 + x)) * low
        return u, (radius - z) * np.float32(0.16) + low * np.float32(0.2)

    @property
    def _root(self) -> tuple[float, float]:
        """Where the strands come from, seen from the front: below the hairline, so no whorl shows."""
        return (0.75 * self.side, 0.62) if self.style == "swept" else (0.3 * self.side, 0.4)

    def distance(self, x: Plane, y: Plane, z: Plane) -> Plane:
        """The volume, locks included."""
        body = self.volume(x, y, z)
        near = np.abs(body) < 0.12
        if near.any():
            u, v = self.flow(x[near], y[near], z[near])
            if self.style == "curls":
                bump = self.locks(x[near] * 0.42 + z[near] * 0.3, y[near] * 0.42 - z[near] * 0.2) * np.float32(0.055)
            else:
                bump = self.locks(u * 1.6, v) * np.float32(0.022)
            body = body.copy()
            body[near] -= bump
        return body

    def volume(self, x: Plane, y: Plane, z: Plane) -> Plane:
        """The volume without its locks."""
        puff = {"crop": 0.07, "long": 0.08, "bun": 0.045, "curls": 0.26, "swept": 0.09}[self.style]
        cap = ellipsoid(x, y, z, at=(0, 0.42 + puff * 0.4, -0.32), radii=(0.99 + puff, 1.03 + puff, 1.14 + puff))
        if self.style == "swept":
            roll = ellipsoid(x, y, z, at=(-0.28 * float(np.sign(self.side)), 1.08, 0.28), radii=(0.78, 0.3, 0.52))
            cap = join(cap, roll, 0.25)
        line = self._hairline(x, y)
        cap = carve(cap, np.maximum(line, -(z + 0.12)), 0.10)
        over_ear = np.maximum(y - 0.2 + 0.25 * z, -(z + 0.62))
        cap = carve(cap, np.maximum(over_ear, 0.6 - np.abs(x)), 0.10)
        if self.style == "long":
            fall = ellipsoid(x, y, z, at=(0, -0.9, -0.92), radii=(1.16, 2.1, 0.5))
            cap = join(cap, fall, 0.3)
        if self.style == "bun":
            cap = join(cap, sphere(x, y, z, at=(0.1 * self.side, 1.62, -0.45), radius=0.43), 0.08)
        found: Plane = np.maximum(cap, -(y + 3.0))
        return found

    def _hairline(self, x: Plane, y: Plane) -> Plane:
        """Inside of the bare face, seen from the front."""
        top = 0.80 if self.style in ("crop", "swept", "curls") else 0.88
        across = x / 0.87
        bare = length2(across, (y + 0.42) / (top + 0.42)) - 1
        ragged = self.locks(np.arctan2(x, y) * np.float32(0.6), np.float32(0.3) + 0 * x)
        found: Plane = (bare + np.float32(0.028) * ragged + 0.02 * np.sin(x * 7 + self.side)) * np.float32(0.55)
        return found

    def surface(self, hit: Hit, place: tuple[Plane, Plane, Plane], key: tuple[float, float, float]) -> Surface:
        """Strands with their two highlights, for points given also in head coordinates."""
        x, y, z = place
        u, v = self.flow(x, y, z)
        if self.style == "curls":
            u, v = x * np.float32(0.42) + z * np.float32(0.3), y * np.float32(0.42) - z * np.float32(0.2)
            fine = self.locks(u * 4, v * 4, hit.wide * 3)
            lock = self.locks(u, v, hit.wide)
        else:
            fine = self.strands(u * 1.7, v, hit.wide * 1.1)
            lock = self.locks(u * 1.6, v, hit.wide)
        tone = np.clip(0.62 + 0.34 * fine + 0.30 * lock, 0.12, 1.7)
        along = unit((x - self._root[0], y - self._root[1], -0.6 * np.ones_like(z)))
        n = hit.normal
        bend = dot(along, n)
        along = unit((along[0] - bend * n[0], along[1] - bend * n[1], along[2] - bend * n[2]))
        half = unit((key[0] + hit.view[0], key[1] + hit.view[1], key[2] + hit.view[2]))
        sine = np.sqrt(np.clip(1 - np.square(dot(along, half) + 0.10 * fine), 0.0, 1.0))
        lit = np.clip(n[0] * key[0] + n[1] * key[1] + n[2] * key[2] + 0.25, 0.0, 1.0)
        shine = (0.16 * sine**60 + 0.10 * sine**14) * lit * np.clip(0.55 + 0.75 * fine, 0.05, 1.6)
        if self.style == "curls":
            shine = shine * np.float32(0.35)
        colour = fill(self.colour, hit.count) * tone
        pale = mix(fill(np.asarray(self.colour) ** np.float32(0.6), 1), fill(np.ones(3), 1), 0.25)
        return Surface(colour, gloss=0.02, rough=0.6, glow=pale * shine)
