"""DISTS: structure and texture compared separately, so that one patch of grass may replace another.

Ding, Ma, Wang, Simoncelli: Image quality assessment: unifying structure and texture similarity (2020).
The picture itself and five layers of VGG16 whose maxima are replaced by blurred root mean squares. Per channel, the
means are compared (texture) and the covariance without them (structure), as SSIM does but over the whole image; the sum
over 1,475 channels is weighted by what was fitted to people's judgements. 0 for equal images, lower is better. Damaged
photographs stay between 0 and 1; a negative could reach 1.13, which is the stated range.

Own code, written as sums of squared differences so that equal images have exactly 0; it equals the original to four
decimals. Weights MIT, trunk torchvision's, BSD-3-Clause. Traps: the original's example and some libraries first shrink
the shorter side to 256 pixels, which gives other numbers; here as in the published calibration nothing is resized. Its
authors name no level at which loss is noticeable, so it has none; a study may set its own. It forgives texture that
moved, which is not the same as texture that stayed. It needs as much memory as lpips-vgg. In bfloat16 it is off by up
to 0.0003 on the five calibration pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

from convergebench.errors import Unmeasurable
from convergebench.metrics.base import Item, batched
from convergebench.metrics.full_reference._learned import distances


@batched(
    "dists",
    kind="full-reference",
    better="lower",
    range=(0.0, 1.13),
    typical=(0.0, 1.0),
    dimension="quality",
    self_value=0.0,
    paper="Ding et al. 2020, doi:10.1109/TPAMI.2020.3045810",
    licence="Apache-2.0 (own code); weights MIT and BSD-3-Clause",
    needs=("learned",),
    weights=("lpips-vgg", "dists"),
    network=True,
    batch=8,
)
def dists(items: Sequence[Item]) -> list[float | Unmeasurable]:
    """Distance of deep structure and deep texture on smoothed VGG16 features."""
    return distances(items, "dists", smallest=16)
