"""The change of colour that a whole picture underwent, as a smooth function of colour and place.

Fitted by reweighted least squares (Cauchy), so that an object that was added does not pull it. The function is the
colour, its squares and a plane and its bend over the picture: enough for a tint, a change of contrast, a swap of
channels, grey, a gradient of light; far too little to draw an object.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Pixels, Plane

CELLS = 64
"""Cells along the longer side that the fit looks at: averaging takes noise and codec marks away."""
ROUNDS = 8
QUIET = 0.6
"""Levels under which a misfit counts as none: a rounded copy of a picture is a copy."""
FEATURES = 12
RIDGE = 1e-4
"""How little the fit may do where the picture shows nothing: pulls towards no change at all."""

Weight = NDArray[np.float32]


class Tone(NamedTuple):
    """Coefficients, features × channels, of what is added to a colour."""

    coefficients: NDArray[np.float64]

    @classmethod
    def none(cls) -> Tone:
        """No change at all."""
        return cls(np.zeros((FEATURES, 3)))

    def added(self, pixels: Plane) -> Plane:
        """What the change adds to each pixel, in levels; `pixels` in levels, as floats."""
        height, width = pixels.shape[:2]
        matrix = self.coefficients.astype(np.float32)
        colour = pixels * np.float32(1 / 255)
        added = cv2.transform(colour, matrix[0:3].T) + cv2.transform(colour * colour, matrix[3:6].T)
        down, across = _places(height, width)
        bend = np.stack(np.broadcast_arrays(across, down, across * across, down * down, across * down, 1.0), axis=-1)
        return np.asarray(added + bend.astype(np.float32) @ matrix[6:], np.float32)


def fit_tone(start: Pixels, end: Pixels, weight: Weight | None = None) -> Tone:
    """The change that leads from `start` to `end` wherever `weight` (all over, if none is given) says to look."""
    size = _cells(start)
    first, last = (_shrunk(pixels, size) for pixels in (start, end))
    seen = np.ones(first.shape[:2], np.float32) if weight is None else _shrunk(weight, size)
    # a cell that is partly left out is mixed with what is left out
    counts = np.where(seen > 0.99, 1.0, 0.0).ravel()
    features = _features(first)
    target = (last - first).reshape(-1, 3).astype(np.float64)
    if counts.sum() < 4 * features.shape[1]:
        return Tone.none()
    return Tone(_reweighted(features, target, counts))


def _reweighted(
    features: NDArray[np.float64], target: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    known = counts > 0
    features, target = features[known], target[known]
    solution = np.zeros((features.shape[1], 3))
    solution[-1] = np.median(target, axis=0)
    ridge = np.eye(features.shape[1]) * RIDGE * len(features)
    for _ in range(ROUNDS):
        misfit = np.sqrt(np.square(target - features @ solution).sum(axis=1))
        spread = max(QUIET, 1.4826 * float(np.median(misfit)))
        weighted = features / (1 + np.square(misfit / spread))[:, None]
        solution = np.linalg.solve(weighted.T @ features + ridge, weighted.T @ target)
    return solution


def _features(cells: Plane) -> NDArray[np.float64]:
    height, width = cells.shape[:2]
    colour = cells.reshape(-1, 3).astype(np.float64) / 255
    down, across = (np.broadcast_to(axis, (height, width)).ravel() for axis in _places(height, width))
    bend = np.stack([across, down, across**2, down**2, across * down, np.ones_like(across)], axis=1)
    return np.concatenate([colour, colour**2, bend], axis=1)


def _places(height: int, width: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows and columns from −1 to 1, at the middle of each pixel."""
    down = (2 * np.arange(height) + 1) / height - 1
    across = (2 * np.arange(width) + 1) / width - 1
    return down[:, None], across[None, :]


def _cells(pixels: Pixels) -> tuple[int, int]:
    height, width = pixels.shape[:2]
    factor = min(1.0, CELLS / max(height, width))
    return max(1, round(width * factor)), max(1, round(height * factor))


def _shrunk(plane: NDArray[np.uint8] | Plane, size: tuple[int, int]) -> Plane:
    return np.asarray(cv2.resize(plane.astype(np.float32), size, interpolation=cv2.INTER_AREA), np.float32)
