"""Pixels → PNG bytes."""

from __future__ import annotations

import cv2

from convergebench.images.frame import Pixels


def encode_png(pixels: Pixels, compression: int = 1) -> bytes:
    """Lossless PNG of RGB pixels; the same pixels always give the same bytes. 0 is fastest, 9 smallest."""
    done, data = cv2.imencode(
        ".png", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_PNG_COMPRESSION, compression]
    )
    if not done:
        raise ValueError(f"cannot encode pixels of shape {pixels.shape}")
    return data.tobytes()
