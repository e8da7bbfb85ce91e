"""IL-NIQE with the numbers of its authors' MATLAB release.

The same measure as `ilniqe`, from which it differs in two details: resizing to 524×524 ends in whole grey levels after
each of its two passes, as MATLAB's imresize does with 8-bit images, and a gradient is at least 2.2·10⁻¹⁶, not 0.0001.
Rounding matters more than it sounds, since it puts a fine grain on whatever is smooth. For the five pictures of peppers
in the repository IceClear/IL-NIQE, whose values by the release are known (29.1422, 36.9637, 29.5075, 78.0557, 46.8697),
it gives 29.1422, 36.9675, 29.5076, 78.0562 and 46.8696, and `ilniqe` 28.91, 37.15, 29.42, 83.23 and 52.13. On TID2013's
calibration images it is within 0.20, 0.009, 0.008, 0.031 and 0.054 of the official values (pyiqa: 2.1, 0.07, 0.23, 0.13
and 1.9). What is left comes from even areas, where the release lets rounding errors decide.

Range, direction, paper, licences and traps are those of `ilniqe`.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.no_reference._ilniqe_features import distance


@metric(
    "ilniqe-matlab",
    kind="no-reference",
    better="lower",
    range=(0.0, inf),
    typical=(0.0, 100.0),
    roles=("source", "return"),
    aligned=False,
    paper="Zhang, Zhang, Bovik 2015, doi:10.1109/TIP.2015.2426416",
    licence="Apache-2.0 (own code); model: Apache-2.0",
    weights=("ilniqe-template",),
)
def ilniqe_matlab(item: Item) -> float:
    """IL-NIQE as its authors' MATLAB release gives it: resized in whole grey levels."""
    return distance(item.subject, rounded=True, faintest=2**-52)
