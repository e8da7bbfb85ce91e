"""ST-LPIPS on AlexNet: LPIPS that tolerates a shift by a pixel or two.

Ghildyal, Liu: Shift-tolerant perceptual similarity metric (2022). The measure is that of lpips; the network is
retrained with every stride, that of the first convolution too, moved to a blur with mirrored edges, so that what an
image shows counts and not where it falls on the grid of pixels. Useful where an editor gives back an image moved by a
pixel or by a part of one. 0 for equal images, lower is better. Damaged photographs stay between 0 and 1; by its heads
it cannot pass 2.50, which is the stated range. It is not on the scale of lpips (third calibration pair: 0.216 where
lpips has 0.051), so levels for lpips say nothing about it, and it has none of its own.

Own code; weights BSD-2-Clause (one file of the authors' package has a noncommercial licence; nothing is taken from it).
It equals the original to four decimals. It takes about three times the work of lpips, and 1.2 GB for images of
1024 × 1024 pixels. In bfloat16 it is off by up to 0.0005 on the five calibration pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

from convergebench.errors import Unmeasurable
from convergebench.metrics.base import Item, batched
from convergebench.metrics.full_reference._learned import distances


@batched(
    "st-lpips",
    kind="full-reference",
    better="lower",
    range=(0.0, 2.50),
    typical=(0.0, 1.0),
    dimension="quality",
    self_value=0.0,
    paper="Ghildyal & Liu 2022, doi:10.1007/978-3-031-19797-0_6",
    licence="Apache-2.0 (own code); weights BSD-2-Clause",
    needs=("learned",),
    weights=("st-lpips-alex",),
    network=True,
    batch=8,
)
def st_lpips(items: Sequence[Item]) -> list[float | Unmeasurable]:
    """Learned perceptual distance that tolerates small shifts, on anti-aliased AlexNet features."""
    return distances(items, "st-lpips", smallest=21)
