"""How many colours an image uses."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Frame
from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP


@metric(
    "palette",
    kind="diagnostic",
    better="neither",
    range=(1.0, 32768.0),
    unit="colours",
    roles=STEP,
    aligned=False,
)
def palette(item: Item) -> float:
    """Distinct colours at 5 bits per channel: falls as an image turns to flat patches."""
    return item.subject.derived("palette", _distinct)


def _distinct(frame: Frame) -> float:
    counts = cv2.calcHist([frame.pixels], [0, 1, 2], None, [32, 32, 32], [0, 256] * 3)
    return float(np.count_nonzero(counts))
