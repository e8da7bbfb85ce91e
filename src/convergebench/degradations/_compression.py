"""What a camera's or a recorder's compression leaves of a picture."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Pixels

_LEAST = 3


def quality(usual: float, severity: float) -> int:
    """A JPEG quality: `usual` at severity 1; at severity 2 the steps of quantisation are twice as coarse."""
    coarse = severity * (5000 / usual if usual < 50 else 200 - 2 * usual)
    return int(np.clip(round(5000 / coarse if coarse > 100 else 100 - coarse / 2), _LEAST, 100))


def jpeg(pixels: Pixels, quality: int) -> Pixels:
    """The picture after JPEG with chroma at half resolution."""
    options = [
        cv2.IMWRITE_JPEG_QUALITY,
        quality,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420,
    ]
    done, data = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), options)
    if not done:
        raise ValueError(f"cannot compress pixels of shape {pixels.shape}")
    decoded = cv2.imdecode(data, cv2.IMREAD_COLOR)
    if decoded is None:
        raise ValueError("cannot read the compressed image")
    return np.asarray(cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB), np.uint8)
