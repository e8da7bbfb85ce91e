"""The colour change of a whole picture, as a smooth function of colour and position.

Fitted by reweighted least squares (Cauchy), so that an added object has little influence. The features are the colour,
its squares, and linear and quadratic terms of the position: enough for a tint, a change of contrast, swapped channels,
grey or a light gradient, but too few to draw an object.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Pixels, Plane

CELLS = 64
"""Cells along the longer side that the fit uses: averaging removes noise and codec artefacts."""
ROUNDS = 8
QUIET = 0.6
"""Residuals below this many levels count as zero, as rounding causes them."""
FEATURES = 12
RIDGE = 1e-4
"""Regularisation towards no change, for colours that the picture lacks."""

Weight = NDArray[np.float32]


class ToneCurve(NamedTuple):
    """Coefficients (features × channels) of the change of a colour."""

    coefficients: NDArray[np.float64]

    @classmethod
    def none(cls) -> ToneCurve:
        """No change at all."""
        return cls(np.zeros((FEATURES, 3)))

    def added(self, pixels: Plane) -> Plane:
        """The change of each pixel, in levels; `pixels` are levels as floats."""
        height, width = pixels.shape[:2]
        matrix = self.coefficients.astype(np.float32)
        colour = pixels * np.float32(1 / 255)
        added = cv2.transform(colour, matrix[0:3].T) + cv2.transform(colour * colour, matrix[3:6].T)
        down, across = _places(height, width)
        bend = np.stack(np.broadcast_arrays(across, down, across * across, down * down, across * down, 1.0), axis=-1)
        return np.asarray(added + bend.astype(np.float32) @ matrix[6:], np.float32)


def fit_tone(start: Pixels, end: Pixels, weight: Weight | None = None) -> ToneCurve:
    """The change from `start` to `end`, weighted by `weight` (equally, if None)."""
    size = _cells(start)
    first, last = (_shrunk(pixels, size) for pixels in (start, end))
    seen = np.ones(first.shape[:2], np.float32) if weight is None else _shrunk(weight, size)
    # a partly excluded cell is mixed with excluded pixels
    counts = np.where(seen > 0.99, 1.0, 0.0).ravel()
    features = _features(first)
    target = (last - first).reshape(-1, 3).astype(np.float64)
    if counts.sum() < 4 * features.shape[1]:
        return ToneCurve.none()
    return ToneCurve(_reweighted(features, target, counts))


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
    """Row and column positions from −1 to 1, at pixel centres."""
    down = (2 * np.arange(height) + 1) / height - 1
    across = (2 * np.arange(width) + 1) / width - 1
    return down[:, None], across[None, :]


def _cells(pixels: Pixels) -> tuple[int, int]:
    height, width = pixels.shape[:2]
    factor = min(1.0, CELLS / max(height, width))
    return max(1, round(width * factor)), max(1, round(height * factor))


def _shrunk(plane: NDArray[np.uint8] | Plane, size: tuple[int, int]) -> Plane:
    return np.asarray(cv2.resize(plane.astype(np.float32), size, interpolation=cv2.INTER_AREA), np.float32)
