"""Region pooling in plain torch, for machines where torchvision's compiled operator does not load.

Girshick: Fast R-CNN (2015), §2.1. A region's corners are scaled and rounded to cells of the feature map, the region is
cut into a grid of bins, and each bin gives its largest value; bins share a row or column where the cut falls inside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def whole_image_pool(output_size: tuple[int, int], spatial_scale: float) -> Any:
    """A module that stands in for `torchvision.ops.RoIPool` where each image has exactly one region."""
    import torch

    class Pool(torch.nn.Module):
        def forward(self, features: torch.Tensor, regions: Sequence[torch.Tensor]) -> torch.Tensor:
            pairs = zip(features, regions, strict=True)
            return torch.stack([pooled(one, _corners(region), output_size, spatial_scale) for one, region in pairs])

    return Pool()


def pooled(
    features: torch.Tensor, corners: Sequence[float], output_size: tuple[int, int], scale: float
) -> torch.Tensor:
    """The largest value of each bin of one region (x₁, y₁, x₂, y₂); an empty bin is 0."""
    import torch

    left, top, right, bottom = (floor(corner * scale + 0.5) for corner in corners)
    rows = _bins(top, bottom, output_size[0], features.shape[1])
    columns = _bins(left, right, output_size[1], features.shape[2])
    out = torch.zeros(features.shape[0], *output_size, dtype=features.dtype, device=features.device)
    for i, (top, bottom) in enumerate(rows):
        for j, (left, right) in enumerate(columns):
            if bottom > top and right > left:
                out[:, i, j] = features[:, top:bottom, left:right].amax(dim=(1, 2))
    return out


def _corners(region: torch.Tensor) -> list[float]:
    corners: list[float] = region.reshape(4).tolist()
    return corners


def _bins(first: int, last: int, number: int, limit: int) -> list[tuple[int, int]]:
    """Where each bin starts and ends, end excluded; the last cell of a region belongs to it."""
    step = max(last - first + 1, 1) / number
    edges = [(first + floor(k * step), first + ceil((k + 1) * step)) for k in range(number)]
    return [(min(max(start, 0), limit), min(max(end, 0), limit)) for start, end in edges]
