"""Features of networks on the GPU: pixels in, distances out, each by one kernel instead of a dozen passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from convergebench.images.frame import Frame
from convergebench.metrics.gpu.compiling import kernel
from convergebench.metrics.gpu.uploading import addresses, uploaded

BLOCKS = 264
"""Per image: two for each multiprocessor of a large GPU."""
CHANNELS = 512
"""The most that `unit_length` has registers for."""


class Fold(NamedTuple):
    """A first convolution with a stride, as one without over squares of `stride` × `stride` pixels."""

    stride: int = 1
    padding: int = 0
    side: int = 1
    """Of the convolution's window, in pixels."""

    @property
    def squares(self) -> int:
        """Side of the window in squares."""
        return -(-self.side // self.stride)

    def count(self, pixels: int) -> int:
        """Squares along a side of the image: as many as the convolution looks at."""
        return (pixels + 2 * self.padding - self.side) // self.stride + self.squares

    def weights(self, weights: Tensor) -> Tensor:
        """The convolution's weights, out × 3 × side × side, for squares instead of pixels."""
        out, channels = weights.shape[:2]
        whole = self.squares * self.stride
        padded = weights.new_zeros((out, channels, whole, whole))
        padded[:, :, : self.side, : self.side] = weights
        cut = padded.view(out, channels, self.squares, self.stride, self.squares, self.stride)
        return cut.permute(0, 3, 5, 1, 2, 4).reshape(out, -1, self.squares, self.squares)


def looked_up(frames: Sequence[Frame], table: Tensor, device: str, fold: Fold) -> Tensor:
    """Images × channels × height × width, channels last: `table` (3 × 256) holds what becomes of each value."""
    width, height = frames[0].size
    rows, columns = fold.count(height), fold.count(width)
    with torch.cuda.device(device):
        where = addresses(uploaded(frames, device), device)
        out = torch.empty((len(frames), rows, columns, 3 * fold.stride**2), dtype=table.dtype, device=device)
        name = "look_up_32" if table.dtype == torch.float32 else "look_up_16"
        shape = (height, width, fold.stride, fold.padding, rows, columns)
        kernel(name, device)((BLOCKS, len(frames), 1), where, table, *shape, out)
    return out.permute(0, 3, 1, 2)


def at_length_one(feature: Tensor) -> Tensor:
    """The vector over channels at each place, at length 1, in float32; stored place by place."""
    device = str(feature.device)
    _, channels, height, width = feature.shape
    stored = feature.contiguous(memory_format=torch.channels_last)
    with torch.cuda.device(device):
        out = torch.empty((height * width, channels), dtype=torch.float32, device=device)
        name = "to_unit_32" if feature.dtype == torch.float32 else "to_unit_16"
        kernel(name, device)((BLOCKS, 1, 1), stored, height * width, channels, out)
    return out


def unit_distances(features: Tensor, kept: Sequence[Tensor], weights: Tensor) -> Tensor:
    """Per image the weighted squared difference from what `at_length_one` kept of its reference, mean over places."""
    device = str(features.device)
    count, channels, height, width = features.shape
    if channels > CHANNELS:
        raise ValueError(f"{channels} channels; the kernel has room for {CHANNELS}")
    stored = features.contiguous(memory_format=torch.channels_last)
    with torch.cuda.device(device):
        where = addresses(kept, device)
        sums = torch.empty((count, BLOCKS), dtype=torch.float64, device=device)
        name = "unit_length_32" if features.dtype == torch.float32 else "unit_length_16"
        grid = (BLOCKS, count, 1)
        kernel(name, device)(grid, stored, where, weights.float(), height * width, channels, sums)
        return sums.sum(1) / (height * width)
