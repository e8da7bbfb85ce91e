"""LIQE: which of five sentences from "bad" to "perfect" quality fits the image best, by a CLIP trained for that.

Zhang, Zhai, Wei, Yang, Ma: Blind image quality assessment via vision-language correspondence (2023). Trained on
KonIQ-10k. Up to 15 squares of 224 pixels; the expected level is the score. 1 to 5, higher is better. Code: pyiqa
(PolyForm-Noncommercial-1.0.0). Weights: pyiqa's, over OpenAI's CLIP ViT-B/32 (MIT). Known traps: no score under 224
pixels a side. pyiqa keeps the sentences' features in a file and reads them back without asking which weights made them;
here they are made afresh.
"""

from __future__ import annotations

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("liqe", modules=("liqe_arch",), weights=("clip-vit-b-32-openai", "pyiqa-liqe"), smallest=224)


@metric(
    "liqe",
    range=(1.0, 5.0),
    paper="Zhang et al. 2023, arXiv:2303.14968",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("liqe"),
)
def liqe(item: Item) -> float:
    """Expected level among five sentences about quality, by a tuned CLIP."""
    return _NETWORK.score(item)
