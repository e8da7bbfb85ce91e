"""MUSIQ: a transformer over patches of the image at its own size and at two smaller ones.

Ke, Wang, Wang, Milanfar, Yang: MUSIQ: multi-scale image quality transformer (2021). Trained on KonIQ-10k. About 0 to
100, higher is better. Code: pyiqa (PolyForm-Noncommercial-1.0.0); the original is Apache-2.0. Weights: the authors',
converted by pyiqa. Known traps: the number of patches grows with the area, and time and memory with its square; a large
image is expensive.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("musiq", modules=("musiq_arch",), weights=("pyiqa-musiq",), smallest=8)


@metric(
    "musiq",
    range=(-inf, inf),
    paper="Ke et al. 2021, arXiv:2108.05997",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("musiq"),
)
def musiq(item: Item) -> float:
    """Transformer over patches at three sizes, trained on KonIQ-10k."""
    return _NETWORK.score(item)
