"""The 97 features that the first version of `decay` read, all independent of the picture's size."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Pixels, Plane
from training.decay.features.response import response_features
from training.decay.features.spectrum import spectrum_features
from training.decay.features.texture import (
    even_features,
    half,
    line_features,
    noise_features,
    shape_features,
)
from training.decay.features.tone import channel_features, tone_features

SMALLEST = 64
"""One tile of the spectrum must fit."""

_TO_CHROMA = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]], np.float32)


def picture_features(pixels: Pixels) -> dict[str, float]:
    """The features of pixels without a frame."""
    planes = cv2.transform(pixels.astype(np.float32), _TO_CHROMA)
    luma, blue, red = (np.ascontiguousarray(planes[..., plane], np.float32) for plane in range(3))
    rounded = np.asarray(np.rint(luma), np.uint8)
    chroma: Plane = blue + red
    small = half(luma)
    return {
        **spectrum_features(luma, "luma"),
        **spectrum_features(chroma, "chroma"),
        **noise_features(luma, chroma),
        **even_features(luma),
        **shape_features(luma, "shape"),
        **shape_features(small, "shape-half"),
        **shape_features(chroma, "shape-chroma"),
        **line_features(luma),
        **tone_features(pixels, blue, red),
        **channel_features(pixels),
        **response_features(luma, rounded),
    }
