"""A restored picture, the degraded one it was made from and the clean one, brought to one size, as planes of luma."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from PIL import Image

from convergebench.failures._aligned_pair import MOVED, SAME_SCALE, AlignedPair, aligned_to_source, registered
from convergebench.failures._blur_match import Blur, matched_blur
from convergebench.failures.base import Box, ChainView
from convergebench.images.frame import Frame, Plane
from convergebench.images.pair_cache import per_pair

SHAPE = 0.02
"""Largest relative difference of width over height at which a clean picture of another size is used."""
COARSE, FINE = 512, 1024
"""Longer sides at which structure and texture are compared."""
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)


@dataclass(frozen=True)
class RestoredPair:
    """Three pictures of one size; `clean` is None where there is none, or where it has another shape."""

    pair: AlignedPair
    clean: Frame | None

    @property
    def result(self) -> Frame:
        """The restored picture."""
        return self.pair.step

    @property
    def given(self) -> Frame:
        """The degraded picture."""
        return self.pair.source

    @cached_property
    def blur(self) -> Blur:
        """What makes the result as soft as the input, in pixels of `COARSE` planes."""
        return matched_blur(luma(self.result, COARSE), luma(self.given, COARSE))

    def box(self, mask: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Box:
        """The rectangle around a mask over the common part, as a box in the result as returned."""
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        high, wide = mask.shape
        return self.pair.as_returned(
            Box(
                float(columns[0]) / wide,
                float(rows[0]) / high,
                float(columns[-1] + 1 - columns[0]) / wide,
                float(rows[-1] + 1 - rows[0]) / high,
            )
        )


def restored_pair(chain: ChainView, index: int) -> RestoredPair | None:
    """The result of a round beside the chain's degraded picture; None where too little is common to both."""
    return per_pair(chain.upright(index), chain.frame(0), "restored", lambda: _aligned(chain, index))


def luma(frame: Frame, longest: int) -> Plane:
    """Luma with the longer side at most `longest`, by averaging; cached."""

    def make(one: Frame) -> Plane:
        factor = min(1.0, longest / max(one.size))
        size = max(1, round(one.width * factor)), max(1, round(one.height * factor))
        smaller = cv2.resize(one.pixels, size, interpolation=cv2.INTER_AREA) if factor < 1 else one.pixels
        return np.asarray(smaller.astype(np.float32) @ _LUMA, np.float32)

    return frame.derived(("luma", longest), make)


def _aligned(chain: ChainView, index: int) -> RestoredPair | None:
    pair = aligned_to_source(chain, index)
    if pair is None:
        return None
    clean, given = chain.clean(), chain.frame(0)
    if clean is None or abs((clean.width / clean.height) / (given.width / given.height) - 1) > SHAPE:
        return RestoredPair(pair, None)
    return RestoredPair(pair, _laid_over(clean, chain.upright(index), pair))


def _laid_over(clean: Frame, result: Frame, pair: AlignedPair) -> Frame:
    """The clean picture scaled and cut to what the aligned result shows.

    It is registered with the result itself: smearing may have moved the degraded picture against both.
    """
    found = registered(result, clean)
    pixels = clean.pixels
    sides = []
    for axis, (scale, shift) in enumerate(((found.scale_x, found.shift_x), (found.scale_y, found.shift_y))):
        length, whole, own = clean.size[axis], result.size[axis], pair.step.size[axis]
        begin, share = pair.part[axis], pair.part[axis + 2]
        factor = own / (whole * share)  # pixels of the aligned result per pixel of the result as returned
        scale = 1.0 if abs(scale - 1) < SAME_SCALE and whole == length else scale
        shift = 0.0 if abs(shift) < MOVED and scale * length == whole else shift
        middle = whole / 2 + scale * shift - begin * whole
        sides.append((max(1, round(length * scale * factor)), middle * factor, own))
    (wide, x, own_width), (high, y, own_height) = sides
    if (wide, high) != clean.size:
        pixels = np.asarray(Image.fromarray(pixels).resize((wide, high), Image.Resampling.LANCZOS), np.uint8)
    left, top = round(wide / 2 - x), round(high / 2 - y)
    rows = np.clip(np.arange(top, top + own_height), 0, high - 1)
    columns = np.clip(np.arange(left, left + own_width), 0, wide - 1)
    return Frame(np.ascontiguousarray(pixels[rows][:, columns]), clean.id)
