"""LPIPS 0.1 on VGG16: the same measure as lpips on a deeper network, at about twenty times the work.

Zhang, Isola, Efros, Shechtman, Wang: The unreasonable effectiveness of deep features as a perceptual metric (2018).
The authors found AlexNet nearer to people's judgements and VGG16 better as something to optimise for; papers report
either, and the two are not on one scale, so say which. 0 for equal images, lower is better. Damaged photographs stay
between 0 and 1; by its heads it cannot pass 5.45, which is the stated range.

Own code; the weights are the original ones (heads BSD-2-Clause, trunk torchvision's, BSD-3-Clause). What is kept of a
reference of 1024 × 1024 pixels is 0.5 GB; a process that measures such images needs 1.5 GB at its peak, however many
there are (lpips: 0.45 GB). In bfloat16 it is off by up to 0.0005 on the five calibration pairs. The other traps are
those of lpips.
"""

from __future__ import annotations

from collections.abc import Sequence

from convergebench.errors import Unmeasurable
from convergebench.metrics.base import Item, batched
from convergebench.metrics.full_reference._learned import distances


@batched(
    "lpips-vgg",
    kind="full-reference",
    better="lower",
    range=(0.0, 5.45),
    typical=(0.0, 1.0),
    dimension="quality",
    self_value=0.0,
    noticeable=0.10,
    half=0.50,
    paper="Zhang et al. 2018, doi:10.1109/CVPR.2018.00068",
    licence="Apache-2.0 (own code); weights BSD-2-Clause and BSD-3-Clause",
    needs=("learned",),
    weights=("lpips-vgg",),
    network=True,
    batch=8,
)
def lpips_vgg(items: Sequence[Item]) -> list[float | Unmeasurable]:
    """Learned perceptual distance, version 0.1, on VGG16 features."""
    return distances(items, "lpips-vgg", smallest=16)
