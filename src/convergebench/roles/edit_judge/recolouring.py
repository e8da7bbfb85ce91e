"""The input under one mapping of colours, the same for every pixel, that comes closest to the edited picture.

What such a mapping explains is a filter: a tint, a change of brightness. What is left was redrawn.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Frame, Pixels
from convergebench.metrics._region import Mask

FITTED_AT = 160
"""Longer side of the pictures that the mapping is fitted to."""


def recoloured(before: Frame, after: Frame, area: Mask | None = None) -> Frame:
    """`before` in the colours of `after`; fitted by least squares, in an area of both if one is given."""
    factor = min(1.0, FITTED_AT / max(before.size))
    known, wanted = (_values(_reduced(frame.pixels, factor)) for frame in (before, after))
    if area is not None:
        inside = _reduced(area.astype(np.uint8) * 255, factor).reshape(-1) > 127
        if inside.any():
            known, wanted = known[inside], wanted[inside]
    mapping, *_ = np.linalg.lstsq(_terms(known), wanted, rcond=None)
    mapped = np.clip(_terms(_values(before.pixels)) @ mapping, 0, 1)
    return Frame(np.asarray(np.round(mapped * 255), np.uint8).reshape(before.pixels.shape))


def dimmed(before: Frame, after: Frame) -> Frame:
    """`before` as bright as `after`: all values multiplied by the one factor that comes closest."""
    known, wanted = (frame.pixels.astype(np.float32) for frame in (before, after))
    factor = float(np.vdot(known, wanted)) / max(float(np.vdot(known, known)), 1.0)
    return Frame(np.asarray(np.clip(np.round(known * factor), 0, 255), np.uint8))


def _reduced(pixels: Pixels, factor: float) -> Pixels:
    return np.asarray(cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), np.uint8)


def _values(pixels: Pixels) -> NDArray[np.float64]:
    return pixels.reshape(-1, 3) / 255.0


def _terms(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A constant, the channels and their squares."""
    return np.concatenate([np.ones((len(values), 1)), values, np.square(values)], axis=1)
