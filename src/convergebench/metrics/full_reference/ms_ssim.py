"""Multi-scale structural similarity: five scales, each half the one before, with the published weights.

Wang, Simoncelli, Bovik: Multi-scale structural similarity for image quality assessment (2003). Contrast·structure of
scales 1–4 and SSIM of scale 5, each to its weight, multiplied per channel; the value is the mean over R, G and B. A
negative factor counts as 0, since a negative number has no real power. Odd sides are halved as piq halves them (see
`pyramid`). From 0 to 1, higher is better, 1 for equal images. Own code, no weights. Traps: it needs 161 pixels a side;
coarse scales weigh most, so that fine damage costs far less than in `ssim` and values crowd near 1.
"""

from __future__ import annotations

from math import prod

from convergebench.metrics._pair import pair
from convergebench.metrics.base import Item, metric
from convergebench.metrics.full_reference._structure import WINDOW, contrast, structure
from convergebench.metrics.on_gpu import by_kernel

WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
SMALLEST = (WINDOW - 1) * 2 ** (len(WEIGHTS) - 1) + 1


@metric(
    "ms-ssim",
    kind="full-reference",
    better="higher",
    range=(0.0, 1.0),
    dimension="quality",
    self_value=1.0,
    noticeable=0.95,
    half=0.50,
    paper="Wang et al. 2003, doi:10.1109/ACSSC.2003.1292216",
    on_gpu=by_kernel("ms_ssim", smallest=SMALLEST),
)
def ms_ssim(item: Item) -> float:
    """Multi-scale structural similarity over five scales, mean over R, G and B."""
    subject, reference = pair(item, smallest=SMALLEST)
    last = len(WEIGHTS) - 1
    finest = structure(subject, reference).contrast  # shared with SSIM
    middle = [contrast(subject, reference, level) for level in range(1, last)]
    coarsest = structure(subject, reference, last).ssim
    return sum(_weighted(channel) for channel in zip(finest, *middle, coarsest, strict=True)) / 3


def _weighted(factors: tuple[float, ...]) -> float:
    return prod(float(max(factor, 0.0) ** weight) for factor, weight in zip(factors, WEIGHTS, strict=True))
