"""The date and time that a recorder writes into its pictures."""

from __future__ import annotations

from datetime import datetime, timedelta

import cv2
import numpy as np

from convergebench.images.frame import Pixels

_BEGIN = datetime(2009, 1, 1)  # a recorder's clock has no zone
_SECONDS = 14 * 365 * 24 * 3600
_MARGIN = 0.03
"""Distance from the rim, as a share of the height."""
_HEIGHT = 0.045
"""Height of a capital letter, as a share of the height."""
_FONT, _FONT_HEIGHT = cv2.FONT_HERSHEY_SIMPLEX, 22.0
"""Height of a capital letter of the font at scale 1, in pixels."""


def timestamp(draw: np.random.Generator) -> tuple[str, str]:
    """Date with time, and the name of a camera."""
    when = _BEGIN + timedelta(seconds=int(draw.integers(_SECONDS)))
    form = draw.choice(("%Y-%m-%d %H:%M:%S", "%d-%m-%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S"))
    return when.strftime(form), f"{draw.choice(('CAM', 'CH', 'Camera '))}{draw.integers(1, 17):02d}"


def stamped(frame: Pixels, draw: np.random.Generator) -> Pixels:
    """The frame with the time in one corner and the camera's name in another, white with a black outline."""
    when, camera = timestamp(draw)
    above = bool(draw.uniform() < 0.7)
    height, width = frame.shape[:2]
    scale = min(_HEIGHT * height, 0.5 * width / 12) / _FONT_HEIGHT
    margin = max(1, round(_MARGIN * height))
    top, bottom = margin + round(_FONT_HEIGHT * scale), height - margin
    reach = cv2.getTextSize(camera, _FONT, scale, 1)[0][0]
    letters = np.zeros((height, width), np.uint8)
    thickness = max(1, round(2 * scale))
    places = ((when, (margin, top if above else bottom)), (camera, (width - margin - reach, bottom if above else top)))
    for words, place in places:
        cv2.putText(letters, words, place, _FONT, scale, 255, thickness, cv2.LINE_AA)
    # widened pixel by pixel: a thicker font would not have its letters at the same places
    outline = np.asarray(cv2.dilate(letters, np.ones((3, 3), np.uint8)), np.uint8)
    return _painted(_painted(frame, outline, 16), letters, 235)


def _painted(frame: Pixels, mask: Pixels, level: int) -> Pixels:
    share = mask[..., None].astype(np.float32) / np.float32(255)
    return np.asarray(np.rint(frame + share * (np.float32(level) - frame)), np.uint8)
