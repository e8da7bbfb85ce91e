"""The picture without the areas that were added or changed.

The changed places are found between the picture and the source itself (`changed_region`: beyond what happened
everywhere), so things added by all earlier steps are left out together. They are grown by one cell of the grid, since
shadows and soft edges reach further than the thing.

It cannot know whether a change was requested. Damage that is confined to a part of the picture counts as change too,
until it covers half; `changed-share` is the share that counted as changed.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.images.pair_cache import per_pair
from convergebench.metrics._pair import pair
from convergebench.metrics._region import Mask, changed_region
from convergebench.metrics.base import Item

LEAST = 0.05
"""Least untouched share of the picture for a meaningful value."""


class Untouched(NamedTuple):
    """The subject with the reference's pixels where it was changed, and the share of the picture that was not."""

    subject: Frame
    reference: Frame
    share: float


def untouched(item: Item, *, smallest: int = 1) -> Untouched:
    """Both images with the changed places made equal; raises `Unmeasurable` if nearly everything changed."""
    subject, reference = pair(item, smallest=smallest)
    found = per_pair(subject, reference, "untouched", lambda: _untouched(subject, reference))
    if found.share < LEAST:
        raise Unmeasurable("all-edited", f"only {found.share:.0%} of the image is untouched")
    return found


def changed_share(item: Item) -> float:
    """Share of the picture that was changed."""
    subject, reference = pair(item)
    return 1 - per_pair(subject, reference, "untouched", lambda: _untouched(subject, reference)).share


def _untouched(subject: Frame, reference: Frame) -> Untouched:
    region = changed_region(subject, reference)
    if region is None:
        return Untouched(subject, reference, 1.0)
    inside = _full_size(region.mask, reference)
    pixels = np.where(inside[..., None], reference.pixels, subject.pixels)
    return Untouched(Frame(np.ascontiguousarray(pixels), subject.id), reference, 1 - float(inside.mean()))


def _full_size(mask: Mask, frame: Frame) -> Mask:
    grown = cv2.dilate(mask.astype(np.uint8), np.ones((3, 3), dtype=np.uint8))
    return cv2.resize(grown, frame.size, interpolation=cv2.INTER_NEAREST) > 0
