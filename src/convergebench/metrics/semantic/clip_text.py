"""Does the picture show what it should show now? The cosine of its CLIP embedding and that of a caption.

After CLIPScore (Hessel et al. 2021), without its factor of 2.5 and without cutting off below 0. The caption is the one
of the state that was asked for: with the edit after the forward step, without it after the backward one. Shipped edit
pairs bring short captions; geometry has none, since words do not tell left from right. The value of a good match is
about 0.2 to 0.35 and depends on the caption: compare steps of one edit, never edits with each other. `clip-direction`
takes the caption's own share out. The model is the one of `clip`, with the same preparation and the same blind margins.
"""

from __future__ import annotations

from collections.abc import Sequence

from convergebench.errors import Unmeasurable
from convergebench.metrics.base import Item, batched
from convergebench.metrics.semantic._clip import WEIGHTS, embed_text, image_vectors
from convergebench.metrics.semantic._embedding import cosine, too_small


@batched(
    "clip-text",
    kind="adherence",
    better="higher",
    range=(-1.0, 1.0),
    typical=(0.1, 0.35),
    roles=("forward", "backward"),
    aligned=False,
    paper="after Hessel et al. 2021, arXiv:2104.08718; Radford et al. 2021, arXiv:2103.00020",
    licence="Apache-2.0 (own code, transformers); weights MIT",
    needs=("semantic",),
    weights=(WEIGHTS,),
    network=True,
    batch=8,
)
def clip_text(items: Sequence[Item]) -> list[float | Unmeasurable]:
    """Cosine of an image and the caption of what was asked for, in CLIP ViT-L/14's space."""
    vectors = image_vectors([item.subject for item in items if _problem(item) is None])
    return [_problem(item) or cosine(vectors[id(item.subject)], embed_text(item.after)) for item in items]


def _problem(item: Item) -> Unmeasurable | None:
    if not item.after.strip():
        return Unmeasurable("no-words", "no caption says what the image should show")
    return too_small(item.subject)
