"""Structural similarity as published: Gaussian window 11×11 of σ 1.5, K₁ 0.01, K₂ 0.03, no downsampling.

Wang, Bovik, Sheikh, Simoncelli: Image quality assessment: from error visibility to structural similarity (2004). Local
statistics are population ones over the area where the window fits; the value is the mean over R, G and B. From −1 to 1,
higher is better, 1 for equal images. Own code, no weights. Traps: programs differ in window, in luma or RGB and in
halving large images first, so say which SSIM (`ssim-skimage` is another); it forgives a brightness that changed
everywhere, except where it is dark, and is sensitive to a shift by a pixel.
"""

from __future__ import annotations

from convergebench.metrics._pair import pair
from convergebench.metrics.base import Item, metric
from convergebench.metrics.full_reference._structure import WINDOW, structure
from convergebench.metrics.on_gpu import by_kernel


@metric(
    "ssim",
    kind="full-reference",
    better="higher",
    range=(-1.0, 1.0),
    dimension="quality",
    self_value=1.0,
    noticeable=0.90,
    half=0.50,
    paper="Wang et al. 2004, doi:10.1109/TIP.2003.819861",
    on_gpu=by_kernel("ssim", smallest=WINDOW),
)
def ssim(item: Item) -> float:
    """Structural similarity with the published Gaussian window, mean over R, G and B."""
    return sum(structure(*pair(item, smallest=WINDOW)).ssim) / 3
