"""PaQ-2-PiQ: a ResNet-18 trained on opinions about whole pictures and about patches of them.

Ying, Niu, Gupta, Mahajan, Ghadiyaram, Bovik: From patches to pictures (PaQ-2-PiQ) (2020). About 0 to 100, higher is
better. Code: pyiqa (PolyForm-Noncommercial-1.0.0). Weights: the authors', converted by pyiqa; licence not stated. Known
traps: it needs torchvision's compiled region pooling, which does not load beside a torch without CUDA; there the same
pooling runs in plain torch.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("paq2piq", modules=("paq2piq_arch",), weights=("pyiqa-paq2piq",), smallest=32)


@metric(
    "paq2piq",
    range=(-inf, inf),
    paper="Ying et al. 2020, arXiv:1912.10088",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("paq2piq"),
)
def paq2piq(item: Item) -> float:
    """ResNet-18 trained on opinions about images and their patches."""
    return _NETWORK.score(item)
