"""Peak signal-to-noise ratio: 10·log₁₀(255² / MSE) over R, G and B of 8-bit images."""

from __future__ import annotations

from math import inf, log10

from convergebench.metrics.base import Item, metric
from convergebench.metrics.full_reference._pair import pair
from convergebench.metrics.full_reference._squares import mean_squared_error


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
)
def psnr(item: Item) -> float:
    """Peak signal-to-noise ratio over RGB, peak 255; infinite for equal images."""
    error = mean_squared_error(*pair(item))
    return inf if error == 0 else 10 * log10(255**2 / error)
