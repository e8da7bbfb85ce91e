"""Distance of two images of possibly different sizes, over all or part of them."""

from __future__ import annotations

from math import sqrt

import cv2
import numpy as np

from convergebench.images.align import fit
from convergebench.images.frame import Frame
from convergebench.metrics._region import Mask


def distance(subject: Frame, reference: Frame, mask: Mask | None = None) -> float:
    """RMSE in [0, 1] after resampling the subject to the reference's size; over the mask's cells if there is one."""
    pixels = fit(subject, reference.size).pixels
    if mask is None:
        return sqrt(cv2.norm(pixels, reference.pixels, cv2.NORM_L2SQR) / pixels.size) / 255
    cells = cv2.resize(mask.astype(np.uint8), reference.size, interpolation=cv2.INTER_NEAREST)
    total = cv2.norm(pixels, reference.pixels, cv2.NORM_L2SQR, mask=cells)
    return sqrt(total / (3 * int(np.count_nonzero(cells)))) / 255
