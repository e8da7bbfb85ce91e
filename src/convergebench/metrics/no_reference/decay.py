"""Decay: how much an image looks as if a model had remade it many times.

BRISQUE, NIQE and PIQE were made for single damages (JPEG, blur, noise), and often give a picture a *better* score after
the twentieth pass through an image model than after the first. This one is a small network that learned from pairs of
pictures of one chain, by hundreds of random editors, which of the two was remade more often; sharper or softer, noisier
or smoother does not matter to it by itself. How it was learned, on what, and where it fails: docs/results/decay.md.

Lower is better: about 0 for untouched photographs, about 100 for the twentieth step of a chain that damages plainly.
It can exceed that range on both sides and is never clipped, so that degraded images can always be ordered.

Traps: values of different photographs can be compared only roughly: untouched ones have a standard deviation of 22
points. An editor that changes next to nothing cannot be noticed. Pictures over 1.5 megapixels are reduced to one. It
needs 64 pixels a side. How many remakings a value looks like, and where the picture is worn: `decay_reading`.
"""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any

import numpy as np

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics.base import Item, metric
from convergebench.metrics.no_reference._decay_network import DecayNetwork, from_arrays, shipped_arrays
from convergebench.metrics.no_reference._decay_tiles import Wear, wear_of

CHECKSUM = "4ce76fc33662c51d862c9073f6e183f8ffea72aba0f52c0735f0989eb2ea711c"
"""SHA-256 of the learned numbers. Raise the version below when they change."""
SMALLEST = 64

TRAINED_ON = (
    *("taesdxl", "taef1", "taef2", "remake-taesdxl", "remake-taef1", "remake-taef2"),
    *("sim-jpeg", "sim-resize", "sim-noise", "sim-tint", "sim-blur", "sim-wrinkle"),
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
    paper=f"own: docs/results/decay.md, numbers {CHECKSUM[:12]}",
    licence="Apache-2.0 (own code and numbers)",
    version=3,
    learned_from=TRAINED_ON,
)
def decay(item: Item) -> float:
    """How much an image looks as if a model had edited it many times."""
    return scaled(wear(item.subject).raw)


def wear(frame: Frame) -> Wear:
    """What the network says of a picture, once per picture; `Unmeasurable` if there is nothing to judge."""
    if min(frame.size) < SMALLEST:
        raise Unmeasurable("too-small", f"{frame.width}×{frame.height} has a side shorter than {SMALLEST} pixels")
    if (frame.pixels == frame.pixels[:1, :1]).all():
        raise Unmeasurable("featureless", "an image of one colour has no texture to judge")
    return frame.derived("decay-wear", lambda frame: wear_of(frame, shipped_network()))


def scaled(raw: float) -> float:
    """The network's value on the scale of the metric."""
    numbers = shipped_numbers()
    zero, hundred = float(numbers["zero"]), float(numbers["hundred"])
    # four digits: the last ones differ between processors
    return float(np.round(100 * (raw - zero) / (hundred - zero), 4))


@cache
def shipped_network() -> DecayNetwork:
    """The network of the package."""
    return from_arrays(shipped_numbers())


def shipped_numbers() -> dict[str, Any]:
    """Everything that was learned and measured, by name."""
    return shipped_arrays(CHECKSUM)
