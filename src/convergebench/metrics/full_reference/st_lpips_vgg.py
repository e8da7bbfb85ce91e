"""ST-LPIPS on VGG16: the same measure as st-lpips on a deeper network.

Ghildyal, Liu: Shift-tolerant perceptual similarity metric (2022). VGG16 retrained with a blur after each maximum.
0 for equal images, lower is better. Damaged photographs stay between 0 and 1; by its heads it cannot pass 2.13, which
is the stated range. It is on the scale of neither st-lpips nor lpips-vgg, and has no levels.

Own code; weights BSD-2-Clause. It equals the authors' package to six decimals. It needs 1.9 GB for images of
1024 × 1024 pixels. In bfloat16 it is off by up to 0.0007 on the five calibration pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

from convergebench.errors import Unmeasurable
from convergebench.metrics.base import Item, batched
from convergebench.metrics.full_reference._learned import distances


@batched(
    "st-lpips-vgg",
    kind="full-reference",
    better="lower",
    range=(0.0, 2.13),
    typical=(0.0, 1.0),
    dimension="quality",
    self_value=0.0,
    paper="Ghildyal & Liu 2022, doi:10.1007/978-3-031-19797-0_6",
    licence="Apache-2.0 (own code); weights BSD-2-Clause",
    needs=("learned",),
    weights=("st-lpips-vgg",),
    network=True,
    batch=8,
)
def st_lpips_vgg(items: Sequence[Item]) -> list[float | Unmeasurable]:
    """Learned perceptual distance that tolerates small shifts, on anti-aliased VGG16 features."""
    return distances(items, "st-lpips-vgg", smallest=34)
