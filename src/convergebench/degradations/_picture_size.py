"""Sizes of damage in shares of a picture: a picture of 256 pixels is spoilt like one of 1024."""

from __future__ import annotations

import math

import cv2
import numpy as np

from convergebench.images.frame import Pixels, Plane

_USUAL = 1024
"""The side, in pixels, for which sizes are written down."""


def scale_of(picture: Pixels | Plane) -> float:
    """1 for a picture of 1024 × 1024; sizes in pixels are multiplied by it."""
    height, width = picture.shape[:2]
    return math.sqrt(height * width) / _USUAL


def reduction(usual: float, severity: float, picture: Pixels | Plane) -> float:
    """By how much a picture is made smaller: `usual` at severity 1 for 1024 pixels, less for small pictures.

    A quarter of 256 pixels would show next to nothing, and all of them would show no damage: hence the root.
    """
    return 1 + (usual - 1) * severity * math.sqrt(scale_of(picture))


def reduced_size(picture: Pixels | Plane, factor: float) -> tuple[int, int]:
    """(width, height) of the picture made smaller by `factor`, at least 1 × 1."""
    height, width = picture.shape[:2]
    return max(1, round(width / factor)), max(1, round(height / factor))


def resized(picture: Plane, size: tuple[int, int], method: int = cv2.INTER_AREA) -> Plane:
    """The picture at another (width, height)."""
    if (picture.shape[1], picture.shape[0]) == size:
        return picture
    return np.asarray(cv2.resize(picture, size, interpolation=method), np.float32)
