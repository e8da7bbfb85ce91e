"""How much of a picture was changed beyond what happened everywhere: the share of it that things were added to."""

from __future__ import annotations

from convergebench.metrics.around import _untouched
from convergebench.metrics.base import Item, metric


@metric(
    "changed-share",
    kind="full-reference",
    better="neither",
    range=(0.0, 1.0),
    roles=("around",),
    self_value=0.0,
)
def changed_share(item: Item) -> float:
    """Share of the image that changed more than the image as a whole did."""
    return _untouched.changed_share(item)
