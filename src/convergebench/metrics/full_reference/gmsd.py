"""Gradient magnitude similarity deviation: how unevenly the edges of an image are kept.

Xue, Zhang, Mou, Bovik: Gradient magnitude similarity deviation (2014). Luma, averaged over 2×2 pixels; Prewitt
gradients with zeros outside; the value is the standard deviation of the similarity of gradient magnitudes. From 0 for
equal images to 0.5 at the very most, lower is better. Own code, no weights. Traps: it sees how unevenly edges suffer,
so damage that is the same everywhere counts for little; it knows luma alone, and no change of colour or brightness.
"""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Frame, Plane
from convergebench.metrics._pair import pair
from convergebench.metrics._planes import LUMA, halved, luma, planes
from convergebench.metrics.base import Item, metric
from convergebench.metrics.on_gpu import by_kernel

STABILITY = 170.0
"""The paper's constant, on the 0…255 scale."""

_SLOPE = np.array([1, 0, -1], dtype=np.float32) / 3
_FLAT = np.ones(3, dtype=np.float32)


@metric(
    "gmsd",
    kind="full-reference",
    better="lower",
    range=(0.0, 1.0),
    dimension="quality",
    self_value=0.0,
    paper="Xue et al. 2014, arXiv:1308.3052",
    on_gpu=by_kernel("gmsd", smallest=4, even=True),
)
def gmsd(item: Item) -> float:
    """Standard deviation over the image of how similar gradient magnitudes are."""
    subject, reference = pair(item, smallest=4)
    x, y = squared_gradient(reference), squared_gradient(subject)
    similarity = np.multiply(x, y)
    np.sqrt(similarity, out=similarity)
    np.multiply(similarity, np.float32(2), out=similarity)
    np.add(similarity, np.float32(STABILITY), out=similarity)
    total = np.add(x, y)
    np.add(total, np.float32(STABILITY), out=total)
    np.divide(similarity, total, out=similarity)
    # what is missing to 1 deviates as much, and for equal images it is exactly 0
    _, deviation = cv2.meanStdDev(np.subtract(np.float32(1), similarity, out=similarity))
    return float(deviation[0, 0])


def squared_gradient(frame: Frame) -> Plane:
    """Squared Prewitt gradient magnitude of the halved luma."""
    return frame.derived("gmsd-gradient", _squared_gradient)


def _squared_gradient(frame: Frame) -> Plane:
    half = _half_luma(frame)
    border = cv2.BORDER_CONSTANT
    across = cv2.sepFilter2D(half, -1, _SLOPE, _FLAT, borderType=border)
    down = cv2.sepFilter2D(half, -1, _FLAT, _SLOPE, borderType=border)
    np.multiply(across, across, out=across)
    np.multiply(down, down, out=down)
    return np.add(across, down, out=across)


def _half_luma(frame: Frame) -> Plane:
    if frame.height % 2 == 0 and frame.width % 2 == 0:
        red, green, blue = planes(frame, 1)
        half: Plane = np.multiply(red, np.float32(LUMA[0]))
        cv2.scaleAdd(green, LUMA[1], half, dst=half)
        cv2.scaleAdd(blue, LUMA[2], half, dst=half)
        return half
    # the paper's own code fills the missing row or column with black
    padded = cv2.copyMakeBorder(luma(frame), 0, frame.height % 2, 0, frame.width % 2, cv2.BORDER_CONSTANT)
    return halved(padded)  # type: ignore[arg-type]
