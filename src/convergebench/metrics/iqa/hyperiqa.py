"""HyperIQA: one network looks at the content and predicts the weights of another, which rates the quality.

Su and others: Blindly assess image quality in the wild guided by a self-adaptive hyper network (2020). Trained on
KonIQ-10k. The mean over 25 evenly placed squares of 224 pixels. About 0 to 1, higher is better. Code: pyiqa
(PolyForm-Noncommercial-1.0.0). Weights: pyiqa's. Known traps: the original takes squares at random, pyiqa at fixed
places, so this one is repeatable; an image under 225 pixels is enlarged first; a large one is seen only in part.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("hyperiqa", modules=("hypernet_arch",), weights=("pyiqa-hyperiqa",), smallest=8)


@metric(
    "hyperiqa",
    range=(-inf, inf),
    paper="Su et al. 2020, doi:10.1109/CVPR42600.2020.00372",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("hyperiqa"),
)
def hyperiqa(item: Item) -> float:
    """Network whose last layers are predicted for each image, mean of 25 crops."""
    return _NETWORK.score(item)
