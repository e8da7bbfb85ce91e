"""Similarity of content as CLIP ViT-L/14 sees it: the cosine of two image embeddings.

Radford et al.: Learning transferable visual models from natural language supervision (2021). The network was trained to
match pictures with their captions, so it knows what a thing is called and forgives how it is drawn. Preparation is
OpenAI's: bicubic to a shorter side of 224 pixels, then the middle 224×224. What lies outside the middle square is not
looked at: of a 16:9 picture that is 44 % of the area. Fine damage is not seen either, since 224 pixels hold none. All
embeddings lie in one narrow cone, so unrelated photographs come out far above 0, and 0.75 is already far off. Range −1
to 1, in practice 0.3 to 1; higher is better. Weights: openai/clip-vit-large-patch14, fetched from the hub (1.7 GB) or
added by hand with `cbench weights add clip-vit-l14 FOLDER`; run through transformers.
"""

from __future__ import annotations

from collections.abc import Sequence

from convergebench.errors import Unmeasurable
from convergebench.metrics.base import Item, batched
from convergebench.metrics.semantic._clip import WEIGHTS, embed_images
from convergebench.metrics.semantic._embedding import similarities


@batched(
    "clip",
    kind="semantic",
    better="higher",
    range=(-1.0, 1.0),
    typical=(0.3, 1.0),
    dimension="semantic",
    self_value=1.0,
    noticeable=0.95,
    half=0.75,
    paper="Radford et al. 2021, arXiv:2103.00020",
    licence="Apache-2.0 (own code, transformers); weights MIT",
    needs=("semantic",),
    weights=(WEIGHTS,),
    network=True,
    batch=8,
)
def clip(items: Sequence[Item]) -> list[float | Unmeasurable]:
    """Cosine of two CLIP ViT-L/14 image embeddings."""
    return similarities(items, WEIGHTS, embed_images)
