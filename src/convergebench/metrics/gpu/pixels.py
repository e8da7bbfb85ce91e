"""PSNR, RMSE, SSIM, MS-SSIM, GMSD and CIEDE2000 of batches of pairs on the GPU, by the kernels of `kernels.cu`.

The values are those of the processor but for the rounding of float32: SSIM, MS-SSIM and GMSD to 2e-6, CIEDE2000 to
1e-4, squared errors exactly. What two metrics share (SSIM is the first scale of MS-SSIM) is worked out once per pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log10, sqrt
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from convergebench.images.frame import Frame
from convergebench.metrics._lab import LINEAR
from convergebench.metrics.full_reference._structure import WINDOW
from convergebench.metrics.full_reference.gmsd import STABILITY
from convergebench.metrics.full_reference.ms_ssim import WEIGHTS
from convergebench.metrics.gpu.compiling import STRIP, THREADS, kernel
from convergebench.metrics.gpu.uploading import Stored, addresses, stored, uploaded

Pair = tuple[Frame, Frame]
"""Subject and reference."""

BLOCKS = 64
"""Per pair, of kernels that go over pixels."""
CHUNK = 32
"""Pairs whose kernels are started together: the GPU works on some while the next are prepared."""

Row = NDArray[np.float64]
"""Of a pair: the sum of squared differences, then six means per level of the pyramid: contrast·structure of R, G and B,
and SSIM of R, G and B."""


def psnr(pairs: Sequence[Pair], device: str) -> list[float]:
    """Infinite for equal images."""
    return [inf if error == 0 else 10 * log10(255**2 / error) for error in _mean_squared_errors(pairs, device)]


def rmse(pairs: Sequence[Pair], device: str) -> list[float]:
    """Black to white is 1."""
    return [sqrt(error) / 255 for error in _mean_squared_errors(pairs, device)]


def ssim(pairs: Sequence[Pair], device: str) -> list[float]:
    """Mean over R, G and B; sides of 11 pixels or more."""
    values: list[float] = np.mean(_rows(pairs, device)[:, 4:7], axis=1).tolist()
    return values


def ms_ssim(pairs: Sequence[Pair], device: str) -> list[float]:
    """Sides of 161 pixels or more."""
    means = _rows(pairs, device)[:, 1:].reshape(len(pairs), len(WEIGHTS), 6)
    factors = np.concatenate([means[:, :-1, :3], means[:, -1:, 3:]], axis=1)
    powers = np.maximum(factors, 0.0) ** np.array(WEIGHTS)[:, None]
    values: list[float] = np.mean(np.prod(powers, axis=1), axis=1).tolist()
    return values


def gmsd(pairs: Sequence[Pair], device: str) -> list[float]:
    """Both sides must be even; the paper's treatment of odd ones is left to the processor."""
    with torch.cuda.device(device):
        first = _pyramids([frame for pair in pairs for frame in pair], device, levels=2)
        subjects, references = ([levels[1] for levels in first[side::2]] for side in (0, 1))
        height, width = subjects[0].height, subjects[0].width
        sums = torch.empty((len(pairs), BLOCKS, 2), dtype=torch.float64, device=device)
        where = addresses([*references, *subjects], device)
        kernel("gradients", device)((BLOCKS, len(pairs), 1), where, len(pairs), height, width, STABILITY, sums)
        means = (sums.sum(1) / (height * width)).tolist()
    return [sqrt(max(square - mean * mean, 0.0)) for mean, square in means]


def delta_e(pairs: Sequence[Pair], device: str) -> list[float]:
    """Mean CIEDE2000 over pixels."""
    width, height = pairs[0][0].size
    with torch.cuda.device(device):
        where = _where(pairs, device)
        sums = torch.empty((len(pairs), BLOCKS), dtype=torch.float64, device=device)
        linear = torch.from_numpy(LINEAR).to(device)
        kernel("colours", device)((BLOCKS, len(pairs), 1), where, len(pairs), width * height, linear, sums)
        return [float(one) / (width * height) for one in sums.sum(1).tolist()]


def _mean_squared_errors(pairs: Sequence[Pair], device: str) -> list[float]:
    size = pairs[0][0].pixels.size
    return [float(square) / size for square in _rows(pairs, device)[:, 0]]


def _rows(pairs: Sequence[Pair], device: str) -> Row:
    """One row per pair, worked out for all four metrics at once and kept with the subject for the other three."""
    slots: list[list[Row]] = [
        # the token stands for the reference: a subject must not keep other images alive
        subject.derived(("gpu-row", reference.derived("token", _token)), _empty)
        for subject, reference in pairs
    ]
    missing = {id(slot): (pair, slot) for pair, slot in zip(pairs, slots, strict=True) if not slot}
    if missing:
        waiting = [pair for pair, _ in missing.values()]
        with torch.cuda.device(device):
            parts = [_started(waiting[first : first + CHUNK], device) for first in range(0, len(waiting), CHUNK)]
            found = torch.cat(parts).cpu().numpy()
        for row, (_, slot) in zip(found, missing.values(), strict=True):
            slot.append(row)
    return np.stack([slot[0] for slot in slots])


def _token(_: Frame) -> object:
    return object()


def _empty(_: Frame) -> list[Any]:
    return []


def _where(pairs: Sequence[Pair], device: str) -> Tensor:
    """Addresses of all references, then of all subjects."""
    return addresses(uploaded([*(one for _, one in pairs), *(one for one, _ in pairs)], device), device)


def _started(pairs: Sequence[Pair], device: str) -> Tensor:
    """The rows of pairs, on the GPU and not waited for."""
    count, levels = len(pairs), _levels(min(pairs[0][0].size))
    pyramids = _pyramids([*(one for _, one in pairs), *(one for one, _ in pairs)], device, levels=max(levels, 1))
    where = addresses([pyramid[level] for level in range(len(pyramids[0])) for pyramid in pyramids], device)
    squares = torch.empty((count, BLOCKS), dtype=torch.int64, device=device)
    kernel("squares", device)((BLOCKS, count, 1), where, count, pairs[0][0].pixels.size, squares)
    columns = [squares.sum(1).double()[:, None]]  # exact: far below 2⁵³
    for level in range(levels):
        height, width = pyramids[0][level].height, pyramids[0][level].width
        places = (height - WINDOW + 1) * (width - WINDOW + 1)
        grid = (-(-3 * (width - WINDOW + 1) // THREADS), -(-(height - WINDOW + 1) // STRIP), count)
        sums = torch.empty((count, grid[0] * grid[1], 6), dtype=torch.float64, device=device)
        here = where[2 * count * level :]
        if level == 0:
            kernel("structure_8", device)(grid, here, count, height, width, sums)
        else:
            kernel("structure_16", device)(grid, here, count, height, width, 0.25**level, sums)
        columns.append(1 - sums.sum(1) / places)
    return torch.cat(columns, 1)


def _levels(side: int) -> int:
    """How many levels have room for the window."""
    levels = 0
    while levels < len(WEIGHTS) and side >= WINDOW:
        levels, side = levels + 1, (side + 1) // 2
    return levels


def _pyramids(frames: Sequence[Frame], device: str, *, levels: int) -> list[list[Stored]]:
    """The pixels and sums of 4, 16, … of them, `levels` in all, kept with each frame."""
    bases = uploaded(frames, device)
    kept = [frame.derived(("gpu-pyramid", device), _empty) for frame in frames]
    for slot, base in zip(kept, bases, strict=True):
        if not slot:
            slot.append(base)
    for level in range(1, levels):
        missing = {id(slot): slot for slot in kept if len(slot) == level}
        if missing:
            halves = _halved([slot[-1] for slot in missing.values()], device, deep=level > 1)
            for slot, half in zip(missing.values(), halves, strict=True):
                slot.append(half)
    return kept


def _halved(images: Sequence[Stored], device: str, *, deep: bool) -> list[Stored]:
    """Sums of 2×2 pixels, with odd sides as `metrics._planes.pyramid` treats them."""
    height, width = images[0].height, images[0].width
    padded = int(height % 2 or width % 2)
    rows, columns = (height + padded) // 2, (width + padded) // 2
    halves = torch.empty((len(images), rows, columns, 3), dtype=torch.uint16, device=device)
    blocks = max(1, min(256, -(-rows * columns * 3 // THREADS)))
    name = "halve_16" if deep else "halve_8"
    kernel(name, device)((blocks, len(images), 1), addresses(images, device), width, padded, rows, columns, halves)
    return stored(halves)
