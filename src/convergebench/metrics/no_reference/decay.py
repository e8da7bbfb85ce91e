"""Decay: how much an image looks as if a model had regenerated it many times.

BRISQUE, NIQE and PIQE were made for single damages (JPEG, blur, static), and often give a picture a *better* score
after the twentieth pass through an image model than after the first. This one is learned from chains: about a hundred
numbers are read off the picture (fall of the spectrum, noise at several scales, shapes of local contrast, correlations
of neighbours, tones, response to fixed operations), and a weighted sum puts pictures of one chain in the order in which
they were made. How it was learned, on what, and where it fails: docs/design/decay.md.

Lower is better: about 0 for untouched pictures, about 100 for the twentieth step of a chain that damages plainly.
It can exceed that range and is never clipped, so that degraded images can always be ordered.

Traps: it is made for comparing pictures of one chain; between different pictures content counts as well. A photograph
taken with much noise, a strong filter or heavy compression looks degraded to it. It reads the grid of the picture:
cutting or scaling a picture first removes part of what it reads. It needs 64 pixels a side.
"""

from __future__ import annotations

from math import inf

import numpy as np

from convergebench.errors import Unmeasurable
from convergebench.metrics.base import Item, metric
from convergebench.metrics.no_reference._decay_features import SMALLEST, features_of
from convergebench.metrics.no_reference._decay_model import shipped_model

CHECKSUM = "0e0d7a7b68a11450d01b6e9ee88ee052627c0fd0d6570adba1d888241dee83d8"
"""SHA-256 of the learned numbers. Raise the version below when they change."""

TRAINED_ON = (
    *("taesd", "taesdxl", "taesd3", "taef1", "taef2"),
    *("waifu2x-denoise", "span-x2", "realesr-anime", "realesrgan-x4"),
    *("remake-taesd", "remake-taesdxl", "remake-taesd3", "remake-taef1", "remake-taef2"),
    *("remake-span", "remake-realesr-anime", "remake-realesrgan"),
    *("sim-jpeg", "sim-resize", "sim-noise", "sim-tint", "sim-blur", "sim-scatter", "sim-wrinkle", "sim-simplify"),
    "sim-contracting",
)
"""Editors that it was trained on, directly or by their kind of wear."""


@metric(
    "decay",
    kind="no-reference",
    better="lower",
    range=(-inf, inf),
    typical=(0.0, 100.0),
    roles=("source", "return"),
    aligned=False,
    paper=f"own: docs/design/decay.md, numbers {CHECKSUM[:12]}",
    licence="Apache-2.0 (own code and numbers)",
    version=1,
    learned_from=TRAINED_ON,
)
def decay(item: Item) -> float:
    """How much an image looks as if a model had edited it many times."""
    frame = item.subject
    if min(frame.size) < SMALLEST:
        raise Unmeasurable("too-small", f"{frame.width}×{frame.height} has a side shorter than {SMALLEST} pixels")
    if (frame.pixels == frame.pixels[:1, :1]).all():
        raise Unmeasurable("featureless", "an image of one colour has no texture to judge")
    model = shipped_model(CHECKSUM)
    return float(np.round(model.score(model.select(features_of(frame))), 6))
