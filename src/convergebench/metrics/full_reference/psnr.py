"""Peak signal-to-noise ratio: 10·log₁₀(255² / MSE) over R, G and B of 8-bit images.

In decibels, from 0 (black against white) upwards, higher is better; equal images have infinity, so a mean over images
that holds one is infinite too. Own code, no weights. Traps: it knows nothing of what people see. On four photographs a
shift by a pixel each way (22 to 27 dB) and 15 levels of brightness (25 dB) cost more than a blur of σ 1.5 (27 to 31
dB). Some libraries take luma alone, which gives other numbers.
"""

from __future__ import annotations

from math import inf, log10

from convergebench.metrics._pair import pair
from convergebench.metrics.base import Item, metric
from convergebench.metrics.full_reference._squares import mean_squared_error
from convergebench.metrics.on_gpu import by_kernel


@metric(
    "psnr",
    kind="full-reference",
    better="higher",
    range=(0.0, inf),
    unit="dB",
    dimension="quality",
    noticeable=30.0,
    half=20.0,
    paper="ITU-T J.247 (2008), Annex; RGB, peak 255",
    on_gpu=by_kernel("psnr"),
)
def psnr(item: Item) -> float:
    """Peak signal-to-noise ratio over RGB, peak 255; infinite for equal images."""
    error = mean_squared_error(*pair(item))
    return inf if error == 0 else 10 * log10(255**2 / error)
