"""NIMA: how photographers would rate the picture from 1 to 10, as the mean of a predicted distribution.

Talebi and Milanfar: NIMA: neural image assessment (2018). Inception-ResNet-v2 trained on AVA. 1 to 10 (the published
range says 0 to 10), higher is better. Code: pyiqa (PolyForm-Noncommercial-1.0.0). Weights: pyiqa's. Known traps: it
rates aesthetics, not damage. The shorter side is scaled to 299 pixels and the middle square is looked at: nothing
outside it counts, and fine damage is averaged away.
"""

from __future__ import annotations

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("nima", modules=("nima_arch",), weights=("pyiqa-nima",), smallest=8)


@metric(
    "nima",
    range=(1.0, 10.0),
    paper="Talebi & Milanfar 2018, arXiv:1709.05424",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("nima"),
)
def nima(item: Item) -> float:
    """Mean of the predicted distribution of ratings, trained on AVA."""
    return _NETWORK.score(item)
