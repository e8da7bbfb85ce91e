"""How much larger the content is drawn."""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP, placement


@metric(
    "scale",
    kind="diagnostic",
    better="neither",
    range=(0.0, inf),
    roles=STEP,
    self_value=1.0,
    aligned=False,
    version=2,  # large crops are found since registration looks in all places
)
def scale(item: Item) -> float:
    """Pixels of the image per pixel of the previous one, mean of both axes, by registration."""
    return placement(item).scale
