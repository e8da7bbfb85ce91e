"""CNNIQA, trained on LIVE: the damage that a small network of 2014 sees in patches of 32×32 pixels.

Kang, Ye, Li, Doermann: Convolutional neural networks for no-reference image quality assessment (2014). Luma is cut into
patches of 32×32 pixels without overlap; in each, a pixel is compared with the 3×3 around it; 50 filters of 7×7, the
largest and the smallest answer of each, and three linear layers give a number per patch. The value is their mean. It
predicts LIVE's DMOS: lower is better, about 10 to 30 for photographs and 40 to 90 for damaged ones. It is not bounded:
values below 0 and above 100 occur.

This is NOT pyiqa's `cnniqa`, the one of published tables, which was trained on KonIQ-10k, looks at colour and gives
about 0 to 1, higher being better. The weights are those of Dingquan Li's public reimplementation, trained on LIVE with
its realigned scores; this code gives its values to 0.00001, quirks included: a last row or column of patches that ends
exactly at the edge is left out, and so is what remains at the right and at the bottom.

Traps: LIVE knows blur, noise, JPEG, JPEG 2000 and lost packets, and no others; colour is not seen at all, and one even
grey gets a value like any other. Patches are measured at the pixels' own size, so enlarging an image counts as blur.
Sides must be over 32 pixels. In bfloat16 it is off by less than 0.1 on TID2013's calibration images. Code: Apache-2.0.
Weights `cnniqa-live`: no licence is stated, so whether they may be used commercially is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Prerequisite, Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics._torch import full_precision, torch_for
from convergebench.metrics.base import Item, batched
from convergebench.metrics.place import Place, here
from convergebench.weights import locate
from convergebench.weights.loading import torch_state

if TYPE_CHECKING:
    from torch import Tensor

PATCH = 32
TOGETHER = 256
"""Patches that go through the network at once; their filter answers take 35 MB."""
SHAPES = {
    "conv1.weight": (50, 1, 7, 7),
    "conv1.bias": (50,),
    "fc1.weight": (800, 100),
    "fc1.bias": (800,),
    "fc2.weight": (800, 800),
    "fc2.bias": (800,),
    "fc3.weight": (1, 800),
    "fc3.bias": (1,),
}


@batched(
    "cnniqa-live",
    kind="no-reference",
    better="lower",
    range=(-inf, inf),
    typical=(0.0, 100.0),
    roles=("source", "return"),
    aligned=False,
    paper="Kang et al. 2014, doi:10.1109/CVPR.2014.224",
    licence="Apache-2.0 (own code); weights: not stated",
    needs=("learned",),
    weights=("cnniqa-live",),
    network=True,
    batch=8,
)
def cnniqa_live(items: Sequence[Item]) -> list[float | Unmeasurable]:
    """Damage seen by a small network trained on LIVE (its DMOS); not pyiqa's cnniqa."""
    return [_measured(item.subject) for item in items]


def _measured(frame: Frame) -> float | Unmeasurable:
    if min(frame.size) <= PATCH:
        return Unmeasurable("too-small", f"{frame.width}×{frame.height} has a side of {PATCH} pixels or less")
    return _score(patches(frame), here())


def patches(frame: Frame) -> NDArray[np.float32]:
    """Luma in patches of 32×32, each pixel less the mean of the 3×3 around it, over their deviation plus one."""
    # one short of what fits where the side is a multiple of the patch, as in the original
    rows, columns = (frame.height - 1) // PATCH, (frame.width - 1) // PATCH
    red, green, blue = np.moveaxis(frame.pixels[: rows * PATCH, : columns * PATCH].astype(np.uint32), 2, 0)
    # luma in whole numbers as Pillow rounds it
    luma = ((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16).astype(np.float64) / 255
    cut = luma.reshape(rows, PATCH, columns, PATCH).swapaxes(1, 2).reshape(-1, PATCH, PATCH)
    # a patch knows nothing of its neighbours: its own edge is repeated outwards
    padded = np.pad(cut, ((0, 0), (1, 1), (1, 1)), mode="edge")
    mean = _surroundings(padded)
    deviation = np.sqrt(np.maximum(_surroundings(padded**2) - mean**2, 0))
    return np.asarray((cut - mean) / (deviation + 1), np.float32)


def _surroundings(padded: NDArray[np.float64]) -> NDArray[np.float64]:
    rows = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    return (rows[:, :, :-2] + rows[:, :, 1:-1] + rows[:, :, 2:]) / 9


def _score(cut: NDArray[np.float32], place: Place) -> float:
    torch = torch_for("learned")
    functional = torch.nn.functional
    state = _state(place)
    total = 0.0
    with full_precision():
        for first in range(0, len(cut), TOGETHER):
            some = torch.from_numpy(cut[first : first + TOGETHER])[:, None].to(place.device, state["fc1.bias"].dtype)
            answers = functional.conv2d(some, state["conv1.weight"], state["conv1.bias"])
            extremes = torch.cat([answers.amax(dim=(2, 3)), answers.amin(dim=(2, 3))], dim=1)
            for layer in ("fc1", "fc2"):
                linear = functional.linear(extremes, state[f"{layer}.weight"], state[f"{layer}.bias"])
                extremes = functional.relu(linear)
            scores = functional.linear(extremes, state["fc3.weight"], state["fc3.bias"])
            total += float(scores.double().sum())
    return total / len(cut)


@cache
def _state(place: Place) -> dict[str, Tensor]:
    import torch

    path = locate("cnniqa-live")
    state = torch_state(path)
    if {name: tuple(tensor.shape) for name, tensor in state.items()} != SHAPES:
        raise Prerequisite(f"{path} does not belong to this network; fetch it again: cbench weights fetch cnniqa-live")
    dtype = torch.bfloat16 if place.precision == "bfloat16" else torch.float32
    return {name: tensor.to(place.device, dtype) for name, tensor in state.items()}
