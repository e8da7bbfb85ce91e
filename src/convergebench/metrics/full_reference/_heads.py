"""The distance of two images in one layer of a network, and the reference's part of it, computed once.

Features are processed in bands of rows, in float32 whatever their precision, and summed in float64.
Both measures are written as sums of squares of differences: equal images have exactly 0, and nearly equal ones lose
no digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from convergebench.metrics._torch import compiled_here

BAND = 1 << 17
"""Values that a CPU processes at a time, so that they stay in its cache from one operation to the next."""


class Head(Protocol):
    """Compares one layer. `feature` is 1 × channels × height × width, `features` are those of several images."""

    def keep(self, feature: Tensor) -> Any:
        """The part of the distance that depends on the reference alone."""
        ...

    def distances(self, features: Tensor, kept: Sequence[Any]) -> Tensor:
        """One float64 value per image, left on the device."""
        ...


class UnitLength:
    """LPIPS: the channel vector at each position is normalised to length 1; squared differences are weighted."""

    def __init__(self, weights: Tensor) -> None:
        self.weights = weights.flatten().double()

    def keep(self, feature: Tensor) -> Tensor:
        """The vectors at length 1."""
        if compiled_here(str(feature.device)):
            from convergebench.metrics.gpu.features import at_length_one

            return at_length_one(feature)
        kept = torch.empty_like(feature, dtype=torch.float32)
        for rows in bands(feature):
            kept[:, :, rows] = _unit(feature[:, :, rows])
        return kept

    def distances(self, features: Tensor, kept: Sequence[Tensor]) -> Tensor:
        """Weighted squared differences, means over places."""
        if compiled_here(str(features.device)):
            from convergebench.metrics.gpu.features import unit_distances

            return unit_distances(features, kept, self.weights)
        return torch.stack([self._distance(features[i : i + 1], one) for i, one in enumerate(kept)])

    def _distance(self, feature: Tensor, kept: Tensor) -> Tensor:
        total = torch.zeros_like(self.weights)
        for rows in bands(feature):
            total += _unit(feature[:, :, rows]).sub_(kept[:, :, rows]).square_().sum((0, 2, 3))
        places = feature.shape[2] * feature.shape[3]
        return torch.dot(total, self.weights) / places


def _unit(feature: Tensor) -> Tensor:
    values = feature.float()
    length: Tensor = torch.linalg.vector_norm(values, dim=1, keepdim=True)
    # 1e-10 as in the original: a position without activation stays at 0
    return values / (length + 1e-10)


class MeanAndStructure:
    """DISTS: per channel, the similarity of means (texture) and of the rest (structure)."""

    FLOOR = 1e-6

    def __init__(self, texture: Tensor, structure: Tensor) -> None:
        self.texture, self.structure = texture.flatten().double(), structure.flatten().double()

    def keep(self, feature: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mean and variance per channel, and the feature less its mean."""
        mean = self._mean(feature)
        centred = torch.empty_like(feature, dtype=torch.float32)
        for rows in bands(feature):
            centred[:, :, rows] = feature[:, :, rows].float() - _per_channel(mean)
        variance, _ = self._moments(feature, mean, centred)
        return mean, variance, centred

    def distances(self, features: Tensor, kept: Sequence[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
        """Weighted sums over channels of 1 − similarity of means and 1 − similarity of structure."""
        return torch.stack([self._distance(features[i : i + 1], one) for i, one in enumerate(kept)])

    def _distance(self, feature: Tensor, kept: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        mean, variance, centred = kept
        own_mean = self._mean(feature)
        own_variance, apart = self._moments(feature, own_mean, centred)
        texture = (own_mean - mean).square() / (own_mean.square() + mean.square() + self.FLOOR)
        # variance + variance − 2 covariance is the variance of the difference
        structure = apart / (own_variance + variance + self.FLOOR)
        return texture @ self.texture + structure @ self.structure

    def _mean(self, feature: Tensor) -> Tensor:
        total = torch.zeros_like(self.texture)
        for rows in bands(feature):
            total += feature[:, :, rows].float().sum((0, 2, 3))
        return total / (feature.shape[2] * feature.shape[3])

    def _moments(self, feature: Tensor, mean: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
        """Variance, and mean squared difference from another centred feature."""
        variance, apart = torch.zeros_like(mean), torch.zeros_like(mean)
        for rows in bands(feature):
            centred = feature[:, :, rows].float() - _per_channel(mean)
            variance += centred.square().sum((0, 2, 3))
            apart += centred.sub_(other[:, :, rows]).square_().sum((0, 2, 3))
        places = feature.shape[2] * feature.shape[3]
        return variance / places, apart / places


def _per_channel(mean: Tensor) -> Tensor:
    return mean.float()[None, :, None, None]


def bands(feature: Tensor) -> Iterator[slice]:
    """Rows in bands on a CPU, all at once elsewhere."""
    _, channels, height, width = feature.shape
    rows = max(1, BAND // (channels * width)) if feature.device.type == "cpu" else height
    for first in range(0, height, rows):
        yield slice(first, first + rows)
