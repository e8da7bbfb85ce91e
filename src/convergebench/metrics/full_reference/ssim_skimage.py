"""SSIM as scikit-image computes it by default, for numbers that were published with it.

Uniform 7×7 window, sample covariance, data range 255, mean over channels of the mean over the cropped area. Sums of
bytes and of their squares over 49 pixels are whole numbers that float32 holds exactly; the rest is float64. From −1 to
1, higher is better, 1 for equal images. Own code, no weights. Traps are those of `ssim`, on which scale it is not.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Frame
from convergebench.metrics._pair import pair
from convergebench.metrics.base import Item, metric

WINDOW = 7
C1 = (0.01 * 255) ** 2
C2 = (0.03 * 255) ** 2

_EDGE = WINDOW // 2
_COUNT = WINDOW * WINDOW
_BAND = 64

Sums = NDArray[np.float32]


@metric(
    "ssim-skimage",
    kind="full-reference",
    better="higher",
    range=(-1.0, 1.0),
    self_value=1.0,
    noticeable=0.90,
    half=0.50,
    paper="scikit-image structural_similarity, defaults; after Wang et al. 2004",
)
def ssim_skimage(item: Item) -> float:
    """Structural similarity exactly as scikit-image's defaults give it (uniform 7×7 window)."""
    subject, reference = pair(item, smallest=WINDOW)
    x, xx = reference.derived("box-sums", _own_sums)
    y, yy = subject.derived("box-sums", _own_sums)
    xy = _box(reference.pixels.astype(np.float32) * subject.pixels)
    rows = x.shape[0]
    total = 0.0
    for top in range(0, rows, _BAND):
        band = slice(top, top + _BAND)
        total += _sum(x[band], y[band], xx[band], yy[band], xy[band])
    return total / x.size


def _box(values: NDArray[np.float32]) -> Sums:
    sums = cv2.boxFilter(values, cv2.CV_32F, (WINDOW, WINDOW), normalize=False)
    return sums[_EDGE:-_EDGE, _EDGE:-_EDGE]  # type: ignore[return-value]


def _own_sums(frame: Frame) -> tuple[Sums, Sums]:
    values = frame.pixels.astype(np.float32)
    return _box(values), _box(values * values)


def _sum(x: Sums, y: Sums, xx: Sums, yy: Sums, xy: Sums) -> float:
    """Sum of the similarity map of one band; every operand is a box sum, so means are sums over 49."""
    x64, y64 = x.astype(np.float64), y.astype(np.float64)
    products = x64 * y64
    squares = x64 * x64 + y64 * y64
    # count·Σxy − Σx·Σy is count²·(population covariance); the sample one divides by count·(count − 1)
    sample = 1 / (_COUNT * (_COUNT - 1))
    covariance = (_COUNT * xy.astype(np.float64) - products) * (2 * sample) + C2
    variance = (_COUNT * (xx.astype(np.float64) + yy) - squares) * sample + C2
    luminance = (2 * products / _COUNT**2 + C1) / (squares / _COUNT**2 + C1)
    return float((luminance * covariance / variance).sum())
