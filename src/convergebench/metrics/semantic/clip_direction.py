"""Did the picture change in the direction that was asked for? Images and words compared by how they moved.

The cosine of (image after − image before) and (caption after − caption before), all four CLIP embeddings of length 1,
as in StyleGAN-NADA (Gal et al. 2021) and the evaluation of InstructPix2Pix (Brooks et al. 2023). For a forward step the
image before is the one the step started from; for a backward step it is the edited one, and the captions change places.
1 would be a move exactly along the words, 0 one that has nothing to do with them, below 0 one against them; real edits
that worked give about 0.1 to 0.3, since a picture changes in much that no caption tells. An image that did not change
at all has moved nowhere: 0. Drift counts as movement too, so a worn picture lowers the value of an edit that was done.
Edits without captions (geometry) have no value. The model is the one of `clip`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics.base import Item, batched
from convergebench.metrics.semantic._clip import WEIGHTS, embed_text, image_vectors
from convergebench.metrics.semantic._embedding import Vector, problem, too_small

NOWHERE = 1e-6
"""Length under which a move is rounding."""


@batched(
    "clip-direction",
    kind="adherence",
    better="higher",
    range=(-1.0, 1.0),
    typical=(-0.1, 0.4),
    roles=("forward", "backward"),
    self_value=0.0,
    aligned=False,
    paper="Gal et al. 2021, arXiv:2108.00946; Brooks et al. 2023, arXiv:2211.09800",
    licence="Apache-2.0 (own code, transformers); weights MIT",
    needs=("semantic",),
    weights=(WEIGHTS,),
    network=True,
    batch=8,
)
def clip_direction(items: Sequence[Item]) -> list[float | Unmeasurable]:
    """Cosine of how the image moved and how its caption moved, in CLIP ViT-L/14's space."""
    faults = [_problem(item) for item in items]
    usable = [item for item, fault in zip(items, faults, strict=True) if fault is None]
    vectors = image_vectors([frame for item in usable for frame in (item.subject, _start(item))])
    return [fault or _direction(item, vectors) for item, fault in zip(items, faults, strict=True)]


def _start(item: Item) -> Frame:
    """The image that the step was given: on the way back that is the edited one."""
    start = item.via if item.via is not None else item.reference
    assert start is not None  # `_problem` has seen to it
    return start


def _problem(item: Item) -> Unmeasurable | None:
    if not item.before.strip() or not item.after.strip() or item.before == item.after:
        return Unmeasurable("no-words", "there are no captions for before and after")
    return problem(item) or (too_small(item.via) if item.via is not None else None)


def _direction(item: Item, vectors: Mapping[int, Vector]) -> float | Unmeasurable:
    image = vectors[id(item.subject)] - vectors[id(_start(item))]
    text = embed_text(item.after) - embed_text(item.before)
    lengths = float(np.linalg.norm(image)), float(np.linalg.norm(text))
    if lengths[1] < NOWHERE:
        return Unmeasurable("no-words", "the two captions are the same to the model")
    if lengths[0] < NOWHERE:
        return 0.0
    return float(np.clip(image @ text / (lengths[0] * lengths[1]), -1, 1))
