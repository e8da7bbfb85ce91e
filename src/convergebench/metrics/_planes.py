"""The planes that metrics share, each computed once per image and cached on its `Frame`."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Frame, Plane

CENTRE = 128.0
"""Subtracted before squaring: squares then need two bits less, which keeps them exact in float32."""

LUMA = (0.299, 0.587, 0.114)
"""Weights of R, G, B in luma (BT.601, as GMSD and the JPEG standard use it)."""

_LUMA_ROW = np.array([[*LUMA, CENTRE]], dtype=np.float32)


def centred(frame: Frame) -> Plane:
    """R, G, B minus 128 as float32, height × width × 3."""
    return pyramid(frame, 0)


def pyramid(frame: Frame, level: int) -> Plane:
    """`centred` averaged over 2×2 pixels `level` times.

    Where a side is odd, the first row and column are repeated and an incomplete 2×2 square is dropped, as in piq, so
    that MS-SSIM agrees with it at every size.
    """
    return frame.derived(("pyramid", level), lambda frame: _pyramid_level(frame, level))


def _pyramid_level(frame: Frame, level: int) -> Plane:
    if level == 0:
        return np.subtract(frame.pixels, np.float32(CENTRE), dtype=np.float32)
    plane = pyramid(frame, level - 1)
    height, width = plane.shape[:2]
    if height % 2 or width % 2:
        padded = cv2.copyMakeBorder(plane, 1, 0, 1, 0, cv2.BORDER_REPLICATE)
        plane = padded[: (height + 1) // 2 * 2, : (width + 1) // 2 * 2]  # type: ignore[assignment]
    return halved(plane)


def halved(plane: Plane) -> Plane:
    """Means of 2×2 pixels; both sides must be even."""
    height, width = plane.shape[:2]
    half: Plane = cv2.resize(plane, (width // 2, height // 2), interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
    return half


def to_luma(centred_pixels: Plane) -> Plane:
    """Luma in 0…255 of `centred` pixels."""
    plane: Plane = cv2.transform(centred_pixels, _LUMA_ROW)  # type: ignore[assignment]
    return plane


def luma(frame: Frame) -> Plane:
    """Luma in 0…255, height × width."""
    return frame.derived("luma", lambda frame: to_luma(centred(frame)))
