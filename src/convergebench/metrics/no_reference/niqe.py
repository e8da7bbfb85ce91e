"""NIQE: how far the statistics of an image's blocks are from those of 125 undamaged photographs.

Mittal, Soundararajan, Bovik: Making a "completely blind" image quality analyzer (2013). No opinion scores are involved.
Luma is divided by its local contrast; each block of 96×96 pixels (48×48 at half size) gives 36 numbers, the shapes of
what is left and of the products of neighbours. A multivariate Gaussian is fitted to the blocks, and the value is its
distance from that of the undamaged photographs. Lower is better: about 2 to 5 for photographs, 10 and more for damaged
ones; there is no upper end.

This follows the authors' MATLAB release: luma of rgb2gray rounded to 8 bits, the image cut at the right and bottom to
whole blocks, edges repeated outwards, neighbours that wrap around inside a block, antialiased bicubic halving, all
blocks of the judged image (only the model was made from the sharpest ones), a shape of 0.2 and no further numbers for a
block without texture. One thing is ours: even areas are exactly zero and belong to neither side of a distribution,
where the release lets rounding errors decide. On TID2013's five calibration images this value is 0.008, 0.0001, 0.0012,
0.018 and 0.031 away from MATLAB's, pyiqa's 0.1, 0.0001, 0.0013, 0.009 and 0.44. On ten photographs as JPEG of quality
20, which is full of even areas, it is up to 0.9 away from pyiqa's. MATLAB's built-in `niqe` has another model and gives
other numbers.

Traps: it rewards what looks like a photograph, so fine noise on a smooth image can lower it, and drawings score badly.
Blocks make it depend on size and crop. It needs two blocks with texture, so at least 96×192 pixels; a Gaussian fitted
to few blocks is loose, and values of images under some 400 pixels scatter. Code: Apache-2.0. Weights `niqe-live`: the
release's model as arrays, from BasicSR (Apache-2.0).
"""

from __future__ import annotations

from functools import cache
from math import inf
from pathlib import Path

import cv2
import numpy as np

from convergebench.errors import Prerequisite, Unmeasurable
from convergebench.images.frame import Frame, Pixels, Plane
from convergebench.metrics.base import Item, metric
from convergebench.metrics.no_reference._natural_scenes import (
    Numbers,
    asymmetric_shape,
    centre,
    coefficients,
    halved,
    moments_of_blocks,
    spread,
    textured_luma,
)
from convergebench.weights import locate
from convergebench.weights.loading import arrays

BLOCK = 96


@metric(
    "niqe",
    kind="no-reference",
    better="lower",
    range=(0.0, inf),
    typical=(0.0, 100.0),
    roles=("source", "return"),
    aligned=False,
    paper="Mittal, Soundararajan, Bovik 2013, doi:10.1109/LSP.2012.2227726",
    licence="Apache-2.0 (own code); model: Apache-2.0",
    weights=("niqe-live",),
)
def niqe(item: Item) -> float:
    """Distance of block statistics from those of undamaged photographs, without opinion scores."""
    luma = _whole_blocks(item.subject)
    blocks = np.hstack([_features(luma, BLOCK), _features(halved(luma), BLOCK // 2)])
    textured = blocks[~np.isnan(blocks).any(axis=1)]
    if len(textured) < 2:
        raise Unmeasurable("featureless", f"{len(textured)} of {len(blocks)} blocks have texture; two are needed")
    natural_mean, natural_covariance = _model(locate("niqe-live"))
    apart = natural_mean - np.nanmean(blocks, axis=0)
    together = np.linalg.pinv((natural_covariance + np.cov(textured, rowvar=False)) / 2)
    return float(np.sqrt(apart @ together @ apart))


def _whole_blocks(frame: Frame) -> Pixels:
    luma = textured_luma(frame, smallest=BLOCK)
    height, width = (side // BLOCK * BLOCK for side in luma.shape)
    if height * width < 2 * BLOCK**2:
        raise Unmeasurable("too-small", f"{frame.width}×{frame.height} has one block of {BLOCK} pixels; two are needed")
    return np.ascontiguousarray(luma[:height, :width])


def _features(plane: Pixels | Plane, side: int) -> Numbers:
    """Blocks × 18: the numbers of one size."""
    own, *pairs = moments_of_blocks(coefficients(plane, cv2.BORDER_REPLICATE), side)
    shape = asymmetric_shape(own)
    features = [shape, (own.left + own.right) / 2 * spread(shape)]
    for pair in pairs:
        shape = asymmetric_shape(pair)
        left, right = pair.left * spread(shape), pair.right * spread(shape)
        features += [shape, (right - left) * centre(shape), left, right]
    return np.stack(features, axis=1)


@cache
def _model(path: Path) -> tuple[Numbers, Numbers]:
    """Mean and covariance over the blocks of undamaged photographs."""
    found = arrays(path)
    try:
        mean, covariance = found["mu_pris_param"].ravel(), found["cov_pris_param"]
    except KeyError:
        message = f"{path} is not a NIQE model; fetch it again: cbench weights fetch niqe-live"
        raise Prerequisite(message) from None
    return mean, covariance
