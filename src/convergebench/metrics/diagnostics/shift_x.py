"""How far the picture slid sideways."""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP, placement


@metric(
    "shift-x",
    kind="diagnostic",
    better="neither",
    range=(-inf, inf),
    unit="px",
    roles=STEP,
    self_value=0.0,
    aligned=False,
    version=2,  # large crops are found since registration looks in all places
)
def shift_x(item: Item) -> float:
    """How far the content moved right at the centre, in pixels of the previous image, by registration."""
    return placement(item).shift_x
