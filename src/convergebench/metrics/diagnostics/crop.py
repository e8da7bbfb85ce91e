"""How much of the image it started from a step lost over the edge."""

from __future__ import annotations

from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP, placement


@metric(
    "crop",
    kind="diagnostic",
    better="lower",
    range=(0.0, 1.0),
    roles=STEP,
    self_value=0.0,
    aligned=False,
    version=2,  # large crops are found since registration looks in all places
)
def crop(item: Item) -> float:
    """Share of the previous image's area that was cropped off, by registration."""
    return placement(item).crop
