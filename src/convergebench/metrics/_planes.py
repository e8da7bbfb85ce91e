"""The planes that metrics share, each computed once per image and cached on its `Frame`."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Frame, Plane

Planes = NDArray[np.uint8] | NDArray[np.float32]

LUMA = (0.299, 0.587, 0.114)
"""Weights of R, G, B in luma (BT.601, as GMSD and the JPEG standard use it)."""

CENTRE = 128.0
"""Subtracted before squaring: squares then need two bits less, which keeps them exact in float32."""

_LUMA_ROW = np.array([[*LUMA, CENTRE]], dtype=np.float32)


def planes(frame: Frame, level: int = 0) -> Planes:
    """R, G and B in 0…255, 3 × height × width, averaged over 2×2 pixels `level` times; bytes at level 0, then float32.

    Where a side is odd, the first row and column are repeated and an incomplete 2×2 square is dropped, as in piq, so
    that MS-SSIM agrees with it at every size. One plane after the other: OpenCV halves and filters single channels
    several times as fast as pixels of three. Four halvings of bytes are exact in float32.
    """
    return frame.derived(("planes", level), lambda frame: _halved_planes(frame, level) if level else _split(frame))


def _split(frame: Frame) -> Planes:
    split = np.empty((3, frame.height, frame.width), dtype=np.uint8)
    cv2.split(frame.pixels, list(split))
    return split


def _halved_planes(frame: Frame, level: int) -> Planes:
    finer = planes(frame, level - 1)
    height, width = ((side + 1) // 2 for side in finer.shape[1:])
    coarser = np.empty((3, height, width), dtype=np.float32)
    for into, channel in zip(coarser, finer, strict=True):
        plane = channel.astype(np.float32, copy=False)
        if plane.shape != (2 * height, 2 * width):
            padded = cv2.copyMakeBorder(plane, 1, 0, 1, 0, cv2.BORDER_REPLICATE)
            plane = padded[: 2 * height, : 2 * width].view(np.float32)
        halved(plane, into)
    return coarser


def halved(plane: Plane, into: Plane | None = None) -> Plane:
    """Means of 2×2 pixels; both sides must be even."""
    height, width = plane.shape[:2]
    half: Plane = cv2.resize(plane, (width // 2, height // 2), dst=into, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
    return half


def luma(frame: Frame) -> Plane:
    """Luma in 0…255, height × width."""
    return frame.derived("luma", _luma)


def _luma(frame: Frame) -> Plane:
    centred = np.subtract(frame.pixels, np.float32(CENTRE), dtype=np.float32)
    plane: Plane = cv2.transform(centred, _LUMA_ROW)  # type: ignore[assignment]
    return plane
