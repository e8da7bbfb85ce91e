"""TReS: a ResNet-50 and a transformer, trained to rank pairs and to agree with itself on mirrored images.

Golestaneh, Dadsetan, Kitani: No-reference image quality assessment via transformers, relative ranking, and
self-consistency (2022). Trained on KonIQ-10k. The mean over 50 evenly placed squares of 224 pixels and their mirror
images. About 0 to 100, higher is better. Code: pyiqa (PolyForm-Noncommercial-1.0.0). Weights: pyiqa's. Known traps:
slow without a GPU (20 seconds for one image on two cores); an image under 225 pixels is enlarged first; a large one is
seen only in part.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("tres", modules=("tres_arch",), weights=("pyiqa-tres",), smallest=8)


@metric(
    "tres",
    range=(-inf, inf),
    paper="Golestaneh et al. 2022, arXiv:2108.06858",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("tres"),
)
def tres(item: Item) -> float:
    """ResNet-50 and transformer, mean of 50 crops and their mirror images."""
    return _NETWORK.score(item)
