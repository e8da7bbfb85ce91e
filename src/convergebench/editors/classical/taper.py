"""A picture continued beyond its edges, so that deconvolution does not ring from them.

Deconvolution by transform takes a picture for one tile of a pattern. The jump from one edge to the opposite one would
ring far into it. So the picture is mirrored outwards, and the mirrored margins of opposite sides fade into each other.
"""

from __future__ import annotations

import numpy as np
from scipy import fft

from convergebench.images.frame import Plane


def tapered(plane: Plane, margin: int) -> tuple[Plane, tuple[slice, slice]]:
    """The continued picture, its sides good for a transform, and where the picture is in it."""
    for axis in (0, 1):
        length = plane.shape[axis]
        whole = fft.next_fast_len(length + 2 * margin, real=True)
        plane = _continued(plane, axis, margin, whole - length - margin)
    return plane, (slice(margin, None), slice(margin, None))


def _continued(plane: Plane, axis: int, before: int, after: int) -> Plane:
    """Margins on both sides of an axis: at the outer ends, both hold the mean of the two mirror images."""
    widths = [(0, 0), (0, 0)]
    widths[axis] = (before, after)
    # mirrored as often as it takes: a margin may be wider than a small picture
    whole = np.moveaxis(np.pad(plane, widths, mode="symmetric"), axis, 0)
    ring = np.concatenate(
        [whole[len(whole) - after :], whole[:before]]
    )  # the margins, joined where the pattern repeats
    first, last = whole[before], whole[len(whole) - after - 1]
    place = ((np.arange(before + after) + 0.5) / (before + after)).astype(np.float32)[:, None]
    rise = 0.5 - 0.5 * np.cos(np.pi * place)
    blend = (1 - rise) * last + rise * first
    keep = (np.abs(2 * place - 1)) ** 2
    joined = keep * ring + (1 - keep) * blend
    out = whole.copy()
    out[len(whole) - after :], out[:before] = joined[:after], joined[after:]
    return np.asarray(np.moveaxis(out, 0, axis), np.float32)
