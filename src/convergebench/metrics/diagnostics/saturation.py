"""How colourful an image is: mean chroma in CIELAB."""

from __future__ import annotations

from convergebench.metrics._lab import mean_lab
from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP


@metric(
    "saturation",
    kind="diagnostic",
    better="neither",
    range=(0.0, 200.0),
    unit="C*",
    roles=STEP,
    aligned=False,
)
def saturation(item: Item) -> float:
    """Mean chroma √(a*² + b*²): 0 is grey; it grows as colours become oversaturated."""
    return mean_lab(item.subject).chroma
