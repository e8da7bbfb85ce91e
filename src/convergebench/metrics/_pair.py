"""The two images of a metric that compares them pixel by pixel, checked."""

from __future__ import annotations

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics.base import Item


def pair(item: Item, *, smallest: int = 1) -> tuple[Frame, Frame]:
    """Subject and reference; raises `Unmeasurable` if one is missing, sizes differ or a side is under `smallest`."""
    subject, reference = item.subject, item.reference
    if reference is None:
        raise Unmeasurable("no-reference", "there is no image to compare with")
    if subject.size != reference.size:
        raise Unmeasurable("size", f"{subject.width}×{subject.height} vs {reference.width}×{reference.height}")
    if min(subject.size) < smallest:
        raise Unmeasurable("too-small", f"{subject.width}×{subject.height} has a side shorter than {smallest} pixels")
    return subject, reference
