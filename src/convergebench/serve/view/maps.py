"""Where two images differ, at full resolution, in the colours of the report."""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np

from convergebench.errors import Unmeasurable
from convergebench.images.encode import encode_png
from convergebench.images.frame import Frame, Pixels, Plane
from convergebench.metrics.full_reference.maps import difference_map, ssim_map
from convergebench.report.palette import INFERNO
from convergebench.serve.guard import Refusal

GAINS = (1, 2, 4, 8, 16, 32)
MOST_PIXELS = 40_000_000
"""Largest image of which a map is made."""
KINDS = ("difference", "ssim")


class DrawnMap(NamedTuple):
    """A map as PNG, and what its colours mean."""

    png: bytes
    facts: dict[str, Any]


def draw_map(kind: str, subject: Frame, reference: Frame, gain: int) -> DrawnMap:
    """The map of a step against another image; that one is resized where sizes differ, and `note` says so."""
    if kind not in KINDS:
        raise Refusal(404, f"There is no such map (there are: {', '.join(KINDS)}).")
    if gain not in GAINS:
        raise Refusal(400, f"gain is one of {', '.join(map(str, GAINS))}.")
    if max(subject.width * subject.height, reference.width * reference.height) > MOST_PIXELS:
        raise Refusal(413, f"Maps are made of images of at most {MOST_PIXELS // 10**6} megapixels.")
    note = ""
    if subject.size != reference.size:
        note = (
            f"sizes differ: the image of {reference.width} × {reference.height} was resized to "
            f"{subject.width} × {subject.height} for this map"
        )
        reference = Frame(cv2.resize(reference.pixels, subject.size, interpolation=cv2.INTER_AREA))  # type: ignore[arg-type]
    try:
        plane, high, unit, gain = _plane(kind, subject, reference, gain)
    except Unmeasurable as error:
        raise Refusal(422, f"There is no such map: {error}.") from error
    facts = {
        "kind": kind,
        "low": 0.0,
        "high": high,
        "unit": unit,
        "gain": gain,
        "mean": float(plane.mean()),
        "width": subject.width,
        "height": subject.height,
        "stops": list(INFERNO),
        "note": note,
    }
    return DrawnMap(encode_png(_coloured(plane, high), compression=3), facts)


def _plane(kind: str, subject: Frame, reference: Frame, gain: int) -> tuple[Plane, float, str, int]:
    """The values, the value of the last colour, what they are, and the gain."""
    if kind == "ssim":
        return 1 - ssim_map(subject, reference), 1.0, "1 − SSIM, mean of R, G and B", 1
    return difference_map(subject, reference), 255 / gain, "levels of 255, the largest of R, G and B", gain


def _coloured(plane: Plane, high: float) -> Pixels:
    stops = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in INFERNO], np.float32)
    places = np.linspace(0, len(stops) - 1, 256)
    colours = np.stack([np.interp(places, np.arange(len(stops)), stops[:, one]) for one in range(3)], 1)
    index = np.clip(plane * (255 / high), 0, 255).astype(np.uint8)
    found: Pixels = colours.round().astype(np.uint8)[index]
    return found
