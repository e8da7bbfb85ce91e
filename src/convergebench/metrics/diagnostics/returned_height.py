"""Height of the image as it came back."""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP


@metric(
    "returned-height",
    kind="diagnostic",
    better="neither",
    range=(1.0, inf),
    unit="px",
    roles=STEP,
    aligned=False,
)
def returned_height(item: Item) -> float:
    """Height of the image as it came back."""
    return float(item.subject.height)
