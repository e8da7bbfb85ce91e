"""How much colour is left in a picture that should be monochrome, apart from coloured noise."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from convergebench.failures._changes import Mask, box_of
from convergebench.failures.base import Box
from convergebench.images.frame import Frame

GRID = 64
"""Cells along the longer side. Averaging over a cell keeps colour and removes coloured noise and codec blocks."""
VISIBLE = 4.0
"""Chroma (CIELAB) at which a cell shows colour; next to grey the eye sees about half of that."""
MEAN = 1.0
"""Mean chroma beyond rounding, codecs and noise: static of 12 levels, at 512 pixels, leaves 0.7."""
SHARE = 0.01
"""Share of coloured cells at which a picture is not monochrome, however grey the rest is."""
ONE_HUE = 0.9
"""Agreement of hues at which a colour is called a tint of the whole picture."""


class Colour(NamedTuple):
    """The colour left in a picture."""

    mean: float
    """Mean chroma over all cells."""
    share: float
    """Share of cells with visible colour."""
    one_hue: float
    """0 … 1: how far all hues agree; near 1 is a tint such as sepia."""
    region: Box | None
    """The box around the coloured cells; None where they are everywhere or nowhere."""

    @property
    def score(self) -> float:
        """The larger ratio of a value to its threshold; 1 or more is not monochrome."""
        return max(self.mean / MEAN, self.share / SHARE)


def colour_of(frame: Frame) -> Colour:
    """The colour left in a picture; cached."""
    return frame.derived("colour-left", _colour)


def _colour(frame: Frame) -> Colour:
    factor = min(1.0, GRID / max(frame.size))
    size = max(1, round(frame.width * factor)), max(1, round(frame.height * factor))
    cells = cv2.resize(frame.pixels.astype(np.float32) / np.float32(255), size, interpolation=cv2.INTER_AREA)
    lab = np.asarray(cv2.cvtColor(cells, cv2.COLOR_RGB2LAB), np.float32)
    # a coloured point spoils its cell, not the cells around it
    red, yellow = (cv2.medianBlur(np.ascontiguousarray(lab[..., plane]), 3) for plane in (1, 2))
    chroma = np.hypot(red, yellow)
    coloured: Mask = chroma > VISIBLE
    total = float(chroma.sum())
    hue = float(np.hypot(red.sum(), yellow.sum())) / total if total > 1e-6 else 0.0
    region = box_of(coloured) if 0 < coloured.mean() < 0.5 else None
    return Colour(float(chroma.mean()), float(coloured.mean()), hue, region)
