"""Similarity of content as DINOv2 sees it: the cosine of two image embeddings.

Oquab et al.: DINOv2: Learning robust visual features without supervision (2023). Trained on pictures alone, it does not
depend on captions: two different cups share one caption for CLIP, but differ here. The embedding is the class token of
the last layer, after its normalisation. The base model is taken: 346 MB where the large one has 1.2 GB, so that it runs
beside CLIP on a small GPU. Preparation as published: bicubic to a shorter side of 256 pixels, then the middle 224×224
of that; margins are not looked at. Range −1 to 1, higher is better. The levels are those of CLIP, taken over and not
calibrated. Weights (Apache-2.0): facebook/dinov2-base, fetched from the hub or added with `cbench weights add
dinov2-base FOLDER`; run through transformers.
"""

from __future__ import annotations

from collections.abc import Sequence

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics._torch import full_precision, torch_for
from convergebench.metrics.base import Item, batched
from convergebench.metrics.place import here
from convergebench.metrics.semantic._embedding import Vector, similarities
from convergebench.metrics.semantic._transformer import network, stacked
from convergebench.weights import locate

WEIGHTS = "dinov2-base"


@batched(
    "dinov2",
    kind="semantic",
    better="higher",
    range=(-1.0, 1.0),
    typical=(0.0, 1.0),
    dimension="semantic",
    self_value=1.0,
    noticeable=0.95,
    half=0.75,
    paper="Oquab et al. 2023, arXiv:2304.07193",
    licence="Apache-2.0 (own code, transformers); weights Apache-2.0",
    needs=("semantic",),
    weights=(WEIGHTS,),
    network=True,
    batch=8,
)
def dinov2(items: Sequence[Item]) -> list[float | Unmeasurable]:
    """Cosine of two DINOv2 (ViT-B/14) image embeddings."""
    return similarities(items, WEIGHTS, _embed)


def _embed(frames: Sequence[Frame]) -> list[Vector]:
    torch_for("semantic")
    place, folder = here(), locate(WEIGHTS)
    model = network("Dinov2Model", folder, place)
    with full_precision():
        hidden = model(pixel_values=stacked(frames, folder, place)).last_hidden_state
        vectors: list[Vector] = list(hidden[:, 0].float().cpu().numpy())
    return vectors
