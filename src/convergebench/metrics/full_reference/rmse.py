"""Root of the mean squared difference, the distance of the contraction reading: a true metric on pixels.

Over R, G and B, from 0 for equal images to 1 for black against white, lower is better. Own code, no weights. Its traps
are those of `psnr`, of which it is another form.
"""

from __future__ import annotations

from math import sqrt

from convergebench.metrics._pair import pair
from convergebench.metrics.base import Item, metric
from convergebench.metrics.full_reference._squares import mean_squared_error
from convergebench.metrics.on_gpu import by_kernel


@metric(
    "rmse",
    kind="full-reference",
    better="lower",
    range=(0.0, 1.0),
    roles=("return", "lag", "replicate"),
    self_value=0.0,
    on_gpu=by_kernel("rmse"),
)
def rmse(item: Item) -> float:
    """Root mean squared difference over RGB, black to white being 1."""
    return sqrt(mean_squared_error(*pair(item))) / 255
