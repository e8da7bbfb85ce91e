"""What is there: solids, walls, materials, lamps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from convergebench.images.pictures.sheet import Colours, Plane

Vector = tuple[Plane, Plane, Plane]
Distance = Callable[[Plane, Plane, Plane], Plane]
Triple = tuple[float, float, float]


@dataclass(slots=True)
class Hit:
    """Points on one thing: where, facing where, seen from where, how wide a pixel is there."""

    x: Plane
    y: Plane
    z: Plane
    normal: Vector
    view: Vector
    wide: Plane

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.x)

    def ball(self) -> tuple[Plane, float]:
        """A ball round all points: middle and radius."""
        low = np.array([p.min() for p in (self.x, self.y, self.z)], dtype=np.float64)
        high = np.array([p.max() for p in (self.x, self.y, self.z)], dtype=np.float64)
        return (low + high) / 2, float(np.linalg.norm(high - low)) / 2

    def part(self, index: NDArray[np.intp]) -> Hit:
        """Some of the points."""
        normal = (self.normal[0][index], self.normal[1][index], self.normal[2][index])
        view = (self.view[0][index], self.view[1][index], self.view[2][index])
        return Hit(self.x[index], self.y[index], self.z[index], normal, view, self.wide[index])


@dataclass(slots=True)
class Surface:
    """What a thing is made of at those points. `gloss` 0…1 mirrors; `rough` widens the highlight."""

    colour: Colours
    gloss: Plane | float = 0.04
    rough: Plane | float = 0.5
    glow: Colours | None = None
    bump: Vector | None = None
    soft: float = 0.0
    """Light that runs under the surface (skin, wax, petals): 0…1."""


Material = Callable[[Hit], Surface]


@dataclass(frozen=True)
class Solid:
    """A thing with a distance function inside a bounding ball. `step` below 1 for functions that overshoot."""

    distance: Distance
    centre: Triple
    radius: float
    material: Material
    step: float = 0.95
    casts: bool = True
    silhouette: Distance | None = None
    """A simpler shape that throws the shadow, where the full one would be dear."""


@dataclass(frozen=True)
class Wall:
    """An endless plane: points with normal · p = offset, facing along its normal."""

    normal: Triple
    offset: float
    material: Material
    shaded: bool = True
    """False for a painted backdrop: no shadow falls on it."""

    def meet(self, origin: Vector, direction: Vector) -> Plane:
        """Distance along each ray, FAR where it looks away."""
        facing = sum(np.float32(n) * d for n, d in zip(self.normal, direction, strict=True))
        height = sum(np.float32(n) * o for n, o in zip(self.normal, origin, strict=True)) - np.float32(self.offset)
        met = np.where(facing < -1e-6, height / np.maximum(-facing, 1e-6), np.float32(1e9))
        return np.where(met > 0, met, np.float32(1e9)).astype(np.float32)

    def height(self, x: Plane, y: Plane, z: Plane) -> Plane:
        """Distance of points in front of the plane."""
        found: Plane = self.normal[0] * x + self.normal[1] * y + self.normal[2] * z - self.offset
        return found


@dataclass(frozen=True)
class Lamp:
    """A light. `towards` points to it; `at` makes it near. `soft` is its radius seen from the scene."""

    colour: Plane
    towards: Triple = (0.0, 1.0, 0.0)
    at: Triple | None = None
    soft: float = 0.12
    reach: float = 6.0
    mask: Callable[[Plane, Plane, Plane], Plane] | None = None
    shadows: bool = True

    def direction(self, x: Plane, y: Plane, z: Plane) -> tuple[Vector, Plane | float]:
        """Unit vectors to the lamp, and its strength at the points."""
        if self.at is None:
            norm = float(np.linalg.norm(self.towards))
            ones = np.ones_like(x)
            return tuple(ones * np.float32(v / norm) for v in self.towards), 1.0  # type: ignore[return-value]
        dx, dy, dz = (np.float32(a) - p for a, p in zip(self.at, (x, y, z), strict=True))
        square = dx * dx + dy * dy + dz * dz
        inverse = 1 / np.sqrt(square)
        return (dx * inverse, dy * inverse, dz * inverse), np.float32(self.reach**2) / square


@dataclass
class World:
    """Everything to be seen, and the light it is seen by."""

    solids: list[Solid] = field(default_factory=list)
    walls: list[Wall] = field(default_factory=list)
    lamps: list[Lamp] = field(default_factory=list)
    sky: Plane = field(default_factory=lambda: np.array([0.35, 0.4, 0.5], dtype=np.float32))
    earth: Plane = field(default_factory=lambda: np.array([0.2, 0.17, 0.14], dtype=np.float32))
    surroundings: Callable[[Vector, Plane | float], Colours] | None = None
    """Light from a direction, for mirrors and for rays that meet nothing; the second argument is roughness."""
    haze: tuple[Plane, float] | None = None
    """Colour of the air and its thickness per unit of distance."""
    hollow: float = 0.35
    """Reach of contact shadows."""


def dot(a: Vector, b: Vector) -> Plane:
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def unit(a: Vector) -> Vector:
    """Scaled to length 1."""
    inverse = 1 / np.sqrt(np.maximum(dot(a, a), 1e-12))
    return a[0] * inverse, a[1] * inverse, a[2] * inverse
