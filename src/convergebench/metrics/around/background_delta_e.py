"""Mean colour difference CIEDE2000 of the area around the things that were added; 0 if nothing around was touched."""

from __future__ import annotations

from math import inf

from convergebench.metrics.around._untouched import untouched
from convergebench.metrics.base import Item, metric
from convergebench.metrics.full_reference.delta_e import delta_e


@metric(
    "background-delta-e",
    kind="full-reference",
    better="lower",
    range=(0.0, inf),
    unit="ΔE₀₀",
    roles=("around",),
    self_value=0.0,
    paper="Sharma et al. 2005, doi:10.1002/col.20070 (CIEDE2000)",
    noticeable=2.3,
)
def background_delta_e(item: Item) -> float:
    """Mean colour difference CIEDE2000 outside the changed regions."""
    rest = untouched(item)
    return delta_e(Item(rest.subject, rest.reference)) / rest.share
