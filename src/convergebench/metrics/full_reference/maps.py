"""Where two images differ: the values behind SSIM and behind the largest difference, pixel by pixel."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Frame, Plane
from convergebench.metrics._pair import pair
from convergebench.metrics.base import Item
from convergebench.metrics.full_reference._structure import WINDOW, ssim_plane


def ssim_map(subject: Frame, reference: Frame) -> Plane:
    """SSIM of every pixel, mean over R, G and B, as large as the images.

    The mean over the area where the window fits is the metric `ssim`; the border of five pixels repeats its edge.
    `Unmeasurable` where the metric has no value.
    """
    edge = WINDOW // 2
    inner = ssim_plane(*pair(Item(subject, reference), smallest=WINDOW))
    return cv2.copyMakeBorder(inner, edge, edge, edge, edge, cv2.BORDER_REPLICATE).view(np.float32)


def difference_map(subject: Frame, reference: Frame) -> Plane:
    """The largest absolute difference of R, G and B of every pixel, in levels of 255."""
    first, second = pair(Item(subject, reference))
    largest: Plane = cv2.absdiff(first.pixels, second.pixels).max(axis=2).astype(np.float32)
    return largest
