"""Was the edit undone?

1 − d(image, before) / d(via, before), d the RMSE over the region that the forward edit changed (over the whole image
for mirroring and turning), `via` the image with the edit in it, `before` the one from before the round. 1 is undone
without a trace, 0 as far off as if nothing had been undone, below 0 farther.
"""

from __future__ import annotations

from math import inf

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics._region import changed_region
from convergebench.metrics.adherence._distance import distance
from convergebench.metrics.adherence.happened import transformed
from convergebench.metrics.base import Item, metric
from convergebench.metrics.operations import INVERSE, is_geometric
from convergebench.types import Operation


@metric(
    "undone",
    kind="adherence",
    better="higher",
    range=(-inf, 1.0),
    roles=("backward",),
    self_value=1.0,
    aligned=False,
)
def undone(item: Item) -> float:
    """How far the forward edit was undone: 1 fully, 0 not at all; below 0 it got worse."""
    if item.reference is None or item.via is None:
        raise Unmeasurable("no-reference", "the image before the round and the edited one are both needed")
    if is_geometric(item.operation):
        return _turned_back(item.subject, item.reference, via=item.via, operation=item.operation)
    region = changed_region(item.via, item.reference)
    if region is None:
        raise Unmeasurable("nothing-to-undo", "the forward edit changed nothing measurable")
    left = distance(item.subject, item.reference, region.mask)
    return 1 - left / distance(item.via, item.reference, region.mask)


def _turned_back(subject: Frame, before: Frame, *, via: Frame, operation: Operation | None) -> float:
    forward = INVERSE[operation] if operation is not None else None
    if transformed(via, before, forward) < 0.5:
        raise Unmeasurable("nothing-to-undo", "the forward edit did not rotate or mirror the image")
    return 1 - distance(subject, before) / distance(via, before)
