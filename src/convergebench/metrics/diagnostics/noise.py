"""Noise of an image, estimated from its own pixels.

Immerkær: Fast noise variance estimation (1996), made robust: the 3×3 mask that is blind to planes and edges, and the
median of its magnitude in place of the mean, so that texture counts for little.
"""

from __future__ import annotations

from math import inf

import cv2
import numpy as np

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame, Plane
from convergebench.metrics._planes import luma
from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP

_MASK = np.array([1, -2, 1], dtype=np.float32)
_GAIN = 6.0
"""Standard deviation of the mask's response to white noise of σ 1."""
_FROM_MEDIAN = 1.4826
_TOP, _BINS = 1024, 32768


@metric(
    "noise",
    kind="diagnostic",
    better="neither",
    range=(0.0, inf),
    unit="levels",
    roles=STEP,
    aligned=False,
    paper="Immerkær 1996, doi:10.1006/cviu.1996.0060, with a median",
)
def noise(item: Item) -> float:
    """Standard deviation of fine noise in luma, in 8-bit levels, by a robust Immerkær estimate."""
    return item.subject.derived("noise", _noise)


def _noise(frame: Frame) -> float:
    if min(frame.size) < 8:
        raise Unmeasurable("too-small", f"{frame.width}×{frame.height} has a side shorter than 8 pixels")
    response = cv2.sepFilter2D(luma(frame), -1, _MASK, _MASK)[1:-1, 1:-1]
    return _median(np.abs(response)) * _FROM_MEDIAN / _GAIN


def _median(magnitudes: Plane) -> float:
    """Median by a fine histogram, ten times as fast as a selection."""
    counts = cv2.calcHist([np.minimum(magnitudes, _TOP - 0.5)], [0], None, [_BINS], [0, _TOP]).ravel()
    reached = np.cumsum(counts, dtype=np.float64)
    half = reached[-1] / 2
    index = int(np.searchsorted(reached, half))
    within = (half - (reached[index] - counts[index])) / counts[index]
    return float(index + within) * _TOP / _BINS
