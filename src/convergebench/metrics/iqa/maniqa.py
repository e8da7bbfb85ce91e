"""MANIQA: a vision transformer with attention over channels and places; each patch has a score and a weight.

Yang and others: MANIQA: multi-dimension attention network for no-reference image quality assessment (2022). Trained on
KonIQ-10k. The mean over 20 evenly placed squares of 224 pixels. About 0 to 1, never below 0, higher is better. Code:
pyiqa (PolyForm-Noncommercial-1.0.0). Weights: pyiqa's. Known traps: slow without a GPU (most of a minute for one image
on two cores, 4 GB of memory); an image under 225 pixels is enlarged first; a large one is seen only in part.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("maniqa", modules=("maniqa_arch",), weights=("pyiqa-maniqa",), smallest=8)


@metric(
    "maniqa",
    range=(0.0, inf),
    paper="Yang et al. 2022, arXiv:2204.08958",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("maniqa"),
)
def maniqa(item: Item) -> float:
    """Vision transformer with multi-dimensional attention, mean of 20 crops."""
    return _NETWORK.score(item)
