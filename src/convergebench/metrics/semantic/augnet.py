"""Similarity of content by AugNet, a network whose weights come with a public package; a substitute, not CLIP.

Chen, Chang, Qin, Cheng: AugNet: End-to-end unsupervised visual representation learning with image augmentation (2021).
A ResNet-50 with 768 outputs and tanh, trained without labels to know an image again after cropping, turning and
recolouring it a little. The value is the cosine of two embeddings, −1 to 1, higher is better. It never saw a caption:
it knows that two pictures show the same, not what they show, and its numbers must not be compared with those of CLIP.

On seven photographs (smallest to largest value, `python -m benchmarks.stand_ins`): JPEG of quality 15 0.97–1.00, blur
of σ 2 0.98–1.00, noise of σ 25 0.93–0.99, mirror image 0.91–1.00, the two halves swapped 0.91–1.00, a ball put in
0.91–0.99, a tint of 20 levels 0.86–0.95, the middle ninth painted over 0.80–0.99; pairs of different photographs −0.14
to 0.49, half of them under 0.24. So 0.95 is about one thing more or less in the picture, and under 0.75 more is gone
than its middle. It forgives fine damage and hardly minds where things are. What it minds more than people do is tone:
half the contrast comes out at 0.30–0.91, half the brightness at 0.59–0.95, grey at 0.44–0.98. An editor that fades
pictures looks worse here than it is. Over 27
rounds of a real editor with published CLIP ViT-L/14 similarities the rank correlation with them is 0.67. The shorter
side is brought to 350 pixels without a low-pass filter, as in the authors' package, so pictures far larger than that
are seen with aliasing; images over 16 times as long as wide are refused (`too-slender`). Code and weights (package
imgsim 0.1.2): MIT; the network here is our own code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics._torch import full_precision, torch_for, weight_type
from convergebench.metrics.base import Item, batched
from convergebench.metrics.place import Place, here
from convergebench.metrics.semantic._embedding import Vector, similarities
from convergebench.metrics.semantic._resnet50 import ResNet, resnet
from convergebench.weights import locate
from convergebench.weights.loading import torch_state

SIDE = 350
"""Shorter side of what the network sees, part of its definition."""
SLENDER = 16
"""Longer side over shorter above which an image is refused: enlarged by its shorter side it would fill the memory."""
MEAN = np.array((0.485, 0.456, 0.406))
SPREAD = np.array((0.229, 0.224, 0.225))


@batched(
    "augnet",
    kind="semantic",
    better="higher",
    range=(-1.0, 1.0),
    dimension="semantic",
    self_value=1.0,
    noticeable=0.95,
    half=0.75,
    paper="Chen et al. 2021, arXiv:2106.06250; not CLIP",
    licence="Apache-2.0 (own code); weights MIT",
    needs=("learned",),
    weights=("augnet",),
    network=True,
    batch=8,
)
def augnet(items: Sequence[Item]) -> list[float | Unmeasurable]:
    """Cosine of two AugNet embeddings (ResNet-50, trained without labels); a stand-in, not CLIP."""
    return similarities(items, "augnet", _embed, slenderest=SLENDER)


def _embed(frames: Sequence[Frame]) -> list[Vector]:
    torch = torch_for("learned")
    place = here()
    network = _network(locate("augnet"), place)
    vectors: dict[int, Vector] = {}
    alike: dict[tuple[int, ...], list[tuple[int, NDArray[np.float32]]]] = defaultdict(list)
    for number, frame in enumerate(frames):
        seen = _prepared(frame.pixels)
        alike[seen.shape].append((number, seen))
    with full_precision():
        for group in alike.values():
            # a processor is done sooner with one image at a time, whose features stay in its caches
            together = 1 if place.device == "cpu" else len(group)
            for first in range(0, len(group), together):
                some = group[first : first + together]
                pixels = torch.from_numpy(np.stack([seen for _, seen in some])).permute(0, 3, 1, 2)
                given = network(pixels.to(place.device, weight_type(place))).float().tanh()
                vectors |= zip([number for number, _ in some], given.cpu().numpy(), strict=True)
    return [vectors[number] for number in range(len(frames))]


def _prepared(pixels: Pixels) -> NDArray[np.float32]:
    """Resampled without a low-pass filter and with sides cut to whole numbers: the network was trained on just that.

    Its authors' code reads BGR files and turns them round, so the network sees RGB.
    """
    height, width = pixels.shape[:2]
    scale = SIDE / min(height, width)
    size = int(max(width * scale, SIDE)), int(max(height * scale, SIDE))
    seen = cv2.resize(pixels, size, interpolation=cv2.INTER_LINEAR)
    return np.asarray((seen / 255.0 - MEAN) / SPREAD, np.float32)


@lru_cache(maxsize=2)
def _network(path: Path, place: Place) -> ResNet:
    state = {name.removeprefix("module.").removeprefix("pre."): value for name, value in torch_state(path).items()}
    return resnet(state, place.device, weight_type(place))
