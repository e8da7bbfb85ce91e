"""Blocking at the 8×8 grid of JPEG and of many autoencoders.

After Wang, Bovik, Evans: Blind measurement of blocking artifacts in images (2000), in the pixel domain: the mean step
across lines of the grid over the mean step elsewhere, taken as the larger of rows and columns.
"""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics._planes import luma
from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP

BLOCK = 8
_FLOOR = 0.05
"""Levels added to both means: an image without any steps has ratio 1."""


@metric(
    "blockiness",
    kind="diagnostic",
    better="lower",
    range=(0.0, inf),
    roles=STEP,
    aligned=False,
    paper="after Wang et al. 2000, doi:10.1109/ICIP.2000.899622",
)
def blockiness(item: Item) -> float:
    """Mean luma step across the 8×8 grid over the mean step elsewhere; 1 means no blocks."""
    return item.subject.derived("blockiness", _blockiness)


def _blockiness(frame: Frame) -> float:
    if min(frame.size) < 3 * BLOCK:
        raise Unmeasurable("too-small", f"{frame.width}×{frame.height} has a side shorter than {3 * BLOCK} pixels")
    plane = luma(frame)
    across = np.abs(np.subtract(plane[:, 1:], plane[:, :-1])).mean(axis=0)
    down = np.abs(np.subtract(plane[1:], plane[:-1])).mean(axis=1)
    return max(_ratio(across), _ratio(down))


def _ratio(steps: NDArray[np.float32]) -> float:
    on_grid = np.arange(1, steps.size + 1) % BLOCK == 0
    return float((steps[on_grid].mean() + _FLOOR) / (steps[~on_grid].mean() + _FLOOR))
