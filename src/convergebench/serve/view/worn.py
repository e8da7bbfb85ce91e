"""The map of where a picture is worn, to be laid over it; it needs no other picture."""

from __future__ import annotations

import cv2

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.report.palette import INFERNO
from convergebench.report.worn import ENDS, HIGH, LOW, draw_overlay, read_worn
from convergebench.serve.guard import Refusal
from convergebench.serve.view.maps import MOST_PIXELS, DrawnMap


def draw_worn(frame: Frame) -> DrawnMap:
    """The map as a PNG with transparency, as large as the picture; and what its colours mean."""
    if frame.width * frame.height > MOST_PIXELS:
        raise Refusal(413, f"Maps are made of images of at most {MOST_PIXELS // 10**6} megapixels.")
    try:
        found = read_worn(frame)
    except Unmeasurable as error:
        raise Refusal(422, f"Where this image is worn cannot be told: {error}.") from error
    over = cv2.cvtColor(draw_overlay(found.parts, frame.width, frame.height), cv2.COLOR_RGBA2BGRA)
    done, data = cv2.imencode(".png", over, [cv2.IMWRITE_PNG_COMPRESSION, 3])
    if not done:
        raise Refusal(500, "This map cannot be written as PNG.")
    facts = {
        "kind": "worn",
        "low": LOW,
        "high": HIGH,
        "ends": list(ENDS),
        "stops": list(INFERNO),
        "value": found.value,
        "words": found.words,
        "parts": int(found.parts.size),
        "unknown": found.unknown,
        "width": frame.width,
        "height": frame.height,
    }
    return DrawnMap(data.tobytes(), facts)
