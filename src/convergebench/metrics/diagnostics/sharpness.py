"""Sharpness as the variance of the Laplacian of luma (3×3, four neighbours)."""

from __future__ import annotations

from math import inf

import cv2

from convergebench.images.frame import Frame
from convergebench.metrics._planes import luma
from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP


@metric(
    "sharpness",
    kind="diagnostic",
    better="neither",
    range=(0.0, inf),
    unit="levels²",
    roles=STEP,
    aligned=False,
    paper="Pech-Pacheco et al. 2000, doi:10.1109/ICPR.2000.903548",
)
def sharpness(item: Item) -> float:
    """Variance of the Laplacian of luma: falls with blur, rises with over-sharpening and noise."""
    return item.subject.derived("sharpness", _sharpness)


def _sharpness(frame: Frame) -> float:
    _, deviation = cv2.meanStdDev(cv2.Laplacian(luma(frame), cv2.CV_32F))
    return float(deviation[0, 0]) ** 2
