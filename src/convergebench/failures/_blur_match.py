"""The blur that turns a restored picture into one as soft as the picture it was made from.

What a degradation destroyed cannot be compared; what is left can. So a result is first blurred until its strong
outlines resemble those of the input best: a Gaussian, elongated in one of four directions where the input is smeared by
motion. Only windows with the strongest outlines of the input are asked, so that texture made up elsewhere has no say.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Plane

LONGEST = 256
"""Longer side at which the blur is searched; deviations are given in pixels of the planes that were passed."""
ROUND = (0.0, 0.4, 0.6, 0.8, 1.1, 1.6, 2.2, 3.0, 4.2)
"""Tried deviations of a round blur, in pixels of the reduced planes."""
ELONGATED = (1.6, 2.6)
"""Tried ratios of an elongated blur's deviations."""
ANGLES = tuple(float(angle) for angle in np.arange(4) * np.pi / 4)
NARROWEST = 0.7
"""Least round blur from which an elongated one is made."""
GAIN = 0.002
"""How much better the correlation must be for a longer blur to be believed."""
DETAIL, WINDOW = 0.8, 8.0
"""Blur of both against noise, and deviation of the windows."""
OUTLINED = 1 / 3
"""Share of the windows that are asked: those of the strongest coarse outlines."""
_COARSE, _APART = 3.0, 4

Wanted = NDArray[np.bool_]


class Blur(NamedTuple):
    """A Gaussian: deviations along and across its direction, in pixels, and the direction in radians."""

    along: float
    across: float
    angle: float = 0.0

    def of(self, plane: Plane) -> Plane:
        """The plane blurred."""
        if self.along == self.across:
            return softened(plane, self.along)
        reach = int(np.ceil(3 * self.along))
        down, right = np.mgrid[-reach : reach + 1, -reach : reach + 1].astype(np.float32)
        along = right * np.cos(self.angle) + down * np.sin(self.angle)
        across = down * np.cos(self.angle) - right * np.sin(self.angle)
        weights = np.exp(-(np.square(along / self.along) + np.square(across / max(self.across, 0.3))) / 2)
        kernel = (weights / weights.sum()).astype(np.float32)
        return np.asarray(cv2.filter2D(plane, cv2.CV_32F, kernel, borderType=cv2.BORDER_REFLECT), np.float32)

    def times(self, factor: float) -> Blur:
        """The same blur, larger."""
        return Blur(self.along * factor, self.across * factor, self.angle)


def softened(plane: Plane, deviation: float) -> Plane:
    """A round blur; too little to matter is none."""
    if deviation < 0.25:
        return plane
    return np.asarray(cv2.GaussianBlur(plane, (0, 0), deviation), np.float32)


def slopes(plane: Plane) -> tuple[Plane, Plane]:
    """Levels per pixel, to the right and down."""
    right, down = (cv2.Scharr(plane, cv2.CV_32F, *axis) / np.float32(32) for axis in ((1, 0), (0, 1)))
    return np.asarray(right, np.float32), np.asarray(down, np.float32)


def matched_blur(result: Plane, given: Plane) -> Blur:
    """The blur after which `result` resembles `given` best; none where it is as soft already."""
    factor = min(1.0, LONGEST / max(given.shape))
    small, wanted = (softened(_reduced(plane, factor), DETAIL) for plane in (result, given))
    right, down = slopes(softened(wanted, _COARSE))
    energy = softened(right * right + down * down, WINDOW)[::_APART, ::_APART]
    asked: Wanted = energy >= np.quantile(energy, 1 - OUTLINED)
    goal = slopes(wanted)
    best, blur = max(
        ((_likeness(softened(small, each), goal, asked), Blur(each, each)) for each in ROUND), key=lambda one: one[0]
    )
    base = max(blur.along, NARROWEST)
    for ratio in ELONGATED:
        for angle in ANGLES:
            longer = Blur(base * ratio**0.5, base / ratio**0.5, angle)
            found = _likeness(longer.of(small), goal, asked)
            if found > best + GAIN:
                best, blur = found, longer
    return blur.times(1 / factor)


def _reduced(plane: Plane, factor: float) -> Plane:
    if factor == 1:
        return plane
    size = max(1, round(plane.shape[1] * factor)), max(1, round(plane.shape[0] * factor))
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA), np.float32)


def _likeness(plane: Plane, goal: tuple[Plane, Plane], asked: Wanted) -> float:
    """The median correlation of slopes over the asked windows."""
    right, down = slopes(plane)
    both, own, other = (
        softened(product, WINDOW)[::_APART, ::_APART]
        for product in (right * goal[0] + down * goal[1], right**2 + down**2, goal[0] ** 2 + goal[1] ** 2)
    )
    return float(np.median((both / np.sqrt(own * other + np.float32(1e-3)))[asked]))
