"""Point spread functions: how one point of a scene was spread over the picture.

`gauss:1.5` is a Gaussian of that deviation, `disk:4` a disk of that radius (out of focus), `line:15@30` a line of that
length at that angle (moved; degrees counter-clockwise from the horizontal). All lengths in pixels.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from convergebench.errors import StudyError
from convergebench.images.frame import Plane

Shape = Literal["gauss", "disk", "line"]
LARGEST = 64.0
FINE = 8
"""Points per pixel and side from which disks and lines are averaged, so that their edges are smooth."""
_FORM = re.compile(r"(gauss|disk|line):(\d+(?:\.\d+)?)(?:@(-?\d+(?:\.\d+)?))?")


@dataclass(frozen=True, slots=True)
class PointSpread:
    """A family with its size in pixels, and for a line its angle in degrees."""

    shape: Shape
    size: float
    angle: float = 0.0

    def __str__(self) -> str:
        return f"{self.shape}:{self.size:g}" + (f"@{self.angle:g}" if self.shape == "line" else "")

    @property
    def reach(self) -> int:
        """Pixels from the middle to the farthest that it reaches."""
        return max(1, int(np.ceil({"gauss": 3.5, "disk": 1.0, "line": 0.5}[self.shape] * self.size)))

    def kernel(self) -> Plane:
        """Square of odd side, with the sum 1."""
        reach = self.reach
        if self.shape == "gauss":
            across = np.arange(-reach, reach + 1, dtype=np.float64)
            profile = np.exp(-0.5 * np.square(across / self.size))
            whole = np.outer(profile, profile)
        else:
            whole = self._averaged(2 * reach + 3)
        return np.asarray(whole / whole.sum(), np.float32)

    def _averaged(self, side: int) -> Plane:
        places = (np.arange(side * FINE) + 0.5) / FINE - side / 2
        down, across = places[:, None], places[None, :]
        if self.shape == "disk":
            inside = np.hypot(down, across) <= self.size
        else:
            turned = np.deg2rad(self.angle)
            along = across * np.cos(turned) - down * np.sin(turned)
            aside = across * np.sin(turned) + down * np.cos(turned)
            inside = (np.abs(along) <= self.size / 2) & (np.abs(aside) <= 0.5)
        return np.asarray(cv2.resize(inside.astype(np.float32), (side, side), interpolation=cv2.INTER_AREA), np.float32)


def read_psf(text: str) -> PointSpread:
    """A written one; a one-line StudyError says what is wrong with it."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise StudyError(f"psf is 'auto', 'gauss:1.5', 'disk:4' or 'line:15@30', not '{text[:40]}'")
    shape, size, angle = found.groups()
    if not 0.2 <= float(size) <= LARGEST:
        raise StudyError(f"the size of a psf is from 0.2 to {LARGEST:g} pixels, not {size}")
    if angle is not None and shape != "line":
        raise StudyError(f"only a line has an angle: write '{shape}:{size}', not '{text[:40]}'")
    return PointSpread(shape, float(size), float(angle or 0) % 180)  # type: ignore[arg-type]  # one of the three


def otf(kernel: Plane, shape: tuple[int, int]) -> np.ndarray[tuple[int, ...], np.dtype[np.complex64]]:
    """The kernel's transform for real pictures of this shape, with the kernel's middle at the origin."""
    from scipy import fft

    whole = np.zeros(shape, np.float32)
    whole[: kernel.shape[0], : kernel.shape[1]] = kernel
    middle = (-(kernel.shape[0] // 2), -(kernel.shape[1] // 2))
    return np.asarray(fft.rfft2(np.roll(whole, middle, axis=(0, 1))), np.complex64)
