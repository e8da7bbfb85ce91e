"""IL-NIQE: how far the patches of an image are from natural ones in contrast, gradients, frequencies and colour.

Zhang, Zhang, Bovik: A feature-enriched completely blind image quality evaluator (2015). No opinion scores are involved.
The image is brought to 524×524 pixels, whatever its shape, and cut into 36 patches of 84×84. Each gives 468 numbers, at
full and at half size: the shapes of its local contrast (as in NIQE), of derivatives and gradients in three opponent
colours, of the answers of 12 log-Gabor filters and of their derivatives, and the spread of logarithmic colours. These
are turned into 430 principal components; the value is the mean over patches of the distance to a Gaussian that was
fitted to 90 undamaged photographs. Lower is better: about 15 to 35 for photographs, 50 and more for damaged ones. It
cannot be negative, and there is no upper end.

Two programs give two sets of numbers, and this one gives pyiqa's (the one that published tables are made with): the
resized image is not rounded, and a gradient is never under 0.0001. On TID2013's five calibration images it is within
0.005, 0.003, 0.008, 0.043 and 0.012 of what pyiqa published, and on 23 others within 0.13; on a 24th, a JPEG of quality
20 full of even areas, 1.2 away. `ilniqe-matlab` gives the authors' numbers, from which these are up to 2.1 away there,
and 5 on others. It takes about a third of a second at any size.

Traps: an even area has no distribution, and programs differ there by what rounding leaves; here it is exactly zero, and
a patch that is even in some channel counts as the mean of the others. An image without one whole patch has no value.
Resizing to a square changes the shape of things and the fineness of noise, so values of different sizes do not compare.
A small image is enlarged and looks blurred. Grey images are measured, but the model has only seen colour. Drawings and
text score badly however clean they are. Code: Apache-2.0. Weights `ilniqe-template`: the authors' model, Apache-2.0.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.no_reference._ilniqe_features import distance


@metric(
    "ilniqe",
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
def ilniqe(item: Item) -> float:
    """Distance of an image's patches from natural ones in contrast, gradients, frequencies and colour (pyiqa's)."""
    return distance(item.subject, rounded=False, faintest=1e-4)
