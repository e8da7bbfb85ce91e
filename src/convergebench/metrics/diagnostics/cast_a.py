"""Colour cast between green and red."""

from __future__ import annotations

from convergebench.metrics._lab import mean_lab
from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP, parent


@metric(
    "cast-a",
    kind="diagnostic",
    better="neither",
    range=(-200.0, 200.0),
    unit="a*",
    roles=STEP,
    self_value=0.0,
    aligned=False,
)
def cast_a(item: Item) -> float:
    """Change of the mean a* from the previous image: negative is greener, positive redder."""
    return mean_lab(item.subject).a - mean_lab(parent(item)).a
