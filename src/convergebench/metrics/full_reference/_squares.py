"""Squared error of two images, exact."""

from __future__ import annotations

import cv2

from convergebench.images.frame import Frame


def mean_squared_error(subject: Frame, reference: Frame) -> float:
    """Mean of squared differences over pixels and channels, on the 0…255 scale."""
    return cv2.norm(subject.pixels, reference.pixels, cv2.NORM_L2SQR) / subject.pixels.size
