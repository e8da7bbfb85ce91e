"""TOPIQ without reference: what the image shows decides where its details are judged.

Chen, Mo, Hou, Wu, Liao, Sun, Yan, Lin: TOPIQ: a top-down approach from semantics to distortions (2024). A ResNet-50
with attention from coarse to fine, trained on KonIQ-10k. About 0 to 1, higher is better. Code: pyiqa
(PolyForm-Noncommercial-1.0.0). Weights: pyiqa's. Known traps: the image is taken at its own size, so the score depends
on it.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("topiq_nr", modules=("topiq_arch",), weights=("pyiqa-topiq-nr",), smallest=32)


@metric(
    "topiq-nr",
    range=(-inf, inf),
    paper="Chen et al. 2024, arXiv:2308.03060",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("topiq-nr"),
)
def topiq_nr(item: Item) -> float:
    """Top-down attention from semantics to detail, trained on KonIQ-10k."""
    return _NETWORK.score(item)
