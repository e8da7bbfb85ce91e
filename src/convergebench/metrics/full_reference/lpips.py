"""LPIPS 0.1 on AlexNet: how far apart two images are in the features of a network trained to classify objects.

Zhang, Isola, Efros, Shechtman, Wang: The unreasonable effectiveness of deep features as a perceptual metric (2018).
Five layers; at each place the vector over channels is brought to length 1, squared differences are weighted per channel
by heads that were fitted to people's judgements, averaged over places and summed over layers. 0 for equal images,
lower is better. Everyday damage gives 0 to 1 (strong noise more: σ 40 on a small photograph 1.12); by its heads it
cannot pass 7.74, which is the stated range.

Own code; the weights are the original ones (heads BSD-2-Clause, trunk torchvision's, BSD-3-Clause). It equals the
original to four decimals on five published pairs. Traps: version 0.1 and 0.0 have different heads; the original expects
−1 to 1 and silently gives other numbers for 0 to 1; values depend on the size of the image, and nothing is resized
here; a shift by a pixel counts as damage (see st-lpips). In bfloat16 it is off by up to 0.0005 on the five calibration
pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

from convergebench.errors import Unmeasurable
from convergebench.metrics.base import Item, batched
from convergebench.metrics.full_reference._learned import distances


@batched(
    "lpips",
    kind="full-reference",
    better="lower",
    range=(0.0, 7.74),
    typical=(0.0, 1.0),
    dimension="quality",
    self_value=0.0,
    noticeable=0.10,
    half=0.50,
    paper="Zhang et al. 2018, doi:10.1109/CVPR.2018.00068",
    licence="Apache-2.0 (own code); weights BSD-2-Clause and BSD-3-Clause",
    needs=("learned",),
    weights=("lpips-alex",),
    network=True,
    batch=8,
)
def lpips(items: Sequence[Item]) -> list[float | Unmeasurable]:
    """Learned perceptual distance, version 0.1, on AlexNet features."""
    return distances(items, "lpips", smallest=31)
