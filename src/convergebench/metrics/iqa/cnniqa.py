"""CNNIQA as pyiqa trained it on KonIQ-10k: one layer of filters, their extremes over the image, three dense layers.

Kang, Ye, Li, Doermann: Convolutional neural networks for no-reference image quality assessment (2014). About 0 to 1,
higher is better. Code: pyiqa (PolyForm-Noncommercial-1.0.0). Weights: pyiqa's. Known traps: pyiqa's network differs
from the paper's (colour instead of grey, no local normalisation, the whole image instead of patches of 32 pixels), and
its scale is inverted; do not compare its scores with those of a network trained on LIVE.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("cnniqa", modules=("cnniqa_arch",), weights=("pyiqa-cnniqa",), smallest=7)


@metric(
    "cnniqa",
    range=(-inf, inf),
    paper="Kang et al. 2014, doi:10.1109/CVPR.2014.224",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("cnniqa"),
)
def cnniqa(item: Item) -> float:
    """Shallow convolutional network, trained on KonIQ-10k."""
    return _NETWORK.score(item)
