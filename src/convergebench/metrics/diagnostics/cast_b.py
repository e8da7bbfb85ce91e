"""Colour cast between blue and yellow."""

from __future__ import annotations

from convergebench.metrics._lab import mean_lab
from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP, parent


@metric(
    "cast-b",
    kind="diagnostic",
    better="neither",
    range=(-200.0, 200.0),
    unit="b*",
    roles=STEP,
    self_value=0.0,
    aligned=False,
)
def cast_b(item: Item) -> float:
    """Change of the mean b* from the previous image: negative is bluer, positive yellower."""
    return mean_lab(item.subject).b - mean_lab(parent(item)).b
