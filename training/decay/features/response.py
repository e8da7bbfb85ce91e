"""How far a picture is moved by a fixed operation, against its own fine detail.

A picture that went through the same kind of operation many times lies near the operation's fixed points, or has been
driven away from them.
"""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Pixels, Plane

_REST = 0.05


def response_features(luma: Plane, rounded: Pixels) -> dict[str, float]:
    """Logarithms of how far five operations move luma, against what a small blur moves."""
    blurred = cv2.GaussianBlur(luma, (0, 0), 1.0)
    detail = luma - blurred
    scale = _moved(detail)
    median = np.asarray(cv2.medianBlur(rounded, 3), np.float32)
    wide = np.asarray(cv2.medianBlur(rounded, 5), np.float32)
    kept = cv2.bilateralFilter(luma, 5, 12.0, 1.5)
    height, width = luma.shape
    small = cv2.resize(luma, (max(1, width // 2), max(1, height // 2)), interpolation=cv2.INTER_AREA)
    back = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    _, packed = cv2.imencode(".jpg", rounded, [cv2.IMWRITE_JPEG_QUALITY, 75])
    coded = np.asarray(cv2.imdecode(packed, cv2.IMREAD_GRAYSCALE), np.float32)
    again = detail - cv2.GaussianBlur(detail, (0, 0), 1.0)
    moved = {
        "median": luma - median,
        "median-wide": luma - wide,
        "bilateral": luma - kept,
        "half": luma - back,
        "jpeg": luma - coded,
        "twice": again,
    }
    found = {name: float(np.log(_moved(change) / scale)) for name, change in moved.items()}
    found["median-mean"] = float(np.log((np.abs(luma - median).mean() + _REST) / (np.abs(detail).mean() + _REST)))
    found["bilateral-mean"] = float(np.log((np.abs(luma - kept).mean() + _REST) / (np.abs(detail).mean() + _REST)))
    found["bytes"] = float(np.log(packed.size * 8 / luma.size + 0.02))
    found["bytes-to-detail"] = found["bytes"] - 0.5 * float(np.log(np.abs(detail).mean() + 0.25))
    least, most = cv2.erode(blurred, np.ones((7, 7))), cv2.dilate(blurred, np.ones((7, 7)))
    edge = (most - least) > 40
    over = np.maximum(luma - most, 0) + np.maximum(least - luma, 0)
    found["overshoot"] = float(np.log((over[edge].mean() if edge.any() else 0.0) + 0.1))
    found["overshoot-even"] = float(np.log((over[~edge].mean() if not edge.all() else 0.0) + 0.05))
    return {f"response-{name}": value for name, value in found.items()}


def _moved(change: Plane) -> float:
    return float(np.sqrt(np.square(change).mean())) + _REST
