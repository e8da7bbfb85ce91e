"""Structural similarity of the area around the things that were added.

The changed places are given the source's pixels, so they lose nothing; the loss that is left belongs to the rest and is
spread over the rest alone: 1 − (1 − SSIM) / share. Windows that reach over the border of a changed place count a
little of both. From −∞ to 1, higher is better, 1 if nothing around was touched.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.around._untouched import untouched
from convergebench.metrics.base import Item, metric
from convergebench.metrics.full_reference._structure import WINDOW, structure


@metric(
    "background-ssim",
    kind="full-reference",
    better="higher",
    range=(-inf, 1.0),
    roles=("around",),
    self_value=1.0,
    paper="Wang et al. 2004, doi:10.1109/TIP.2003.819861 (SSIM)",
    noticeable=0.90,
    half=0.50,
)
def background_ssim(item: Item) -> float:
    """Structural similarity outside the changed regions."""
    rest = untouched(item, smallest=WINDOW)
    lost = 1 - sum(structure(rest.subject, rest.reference).ssim) / 3
    return 1 - lost / rest.share
