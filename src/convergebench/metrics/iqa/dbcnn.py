"""DB-CNN: two networks, one that knows synthetic damage and one that knows objects, pooled together.

Zhang, Ma, Yan, Deng, Wang: Blind image quality assessment using a deep bilinear convolutional neural network (2020).
Trained on KonIQ-10k. About 0 to 1, higher is better. Code: pyiqa (PolyForm-Noncommercial-1.0.0). Weights: pyiqa's.
Known traps: pyiqa asks for an ImageNet VGG-16 and for a file of the first network as well; its checkpoint replaces
both, so neither is needed here. The image is taken at its own size.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork(
    "dbcnn", modules=("dbcnn_arch",), weights=("pyiqa-dbcnn",), overwritten=("DBCNN_scnn-7ea73d75.pth",), smallest=16
)


@metric(
    "dbcnn",
    range=(-inf, inf),
    paper="Zhang et al. 2020, arXiv:1907.02665",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("dbcnn"),
)
def dbcnn(item: Item) -> float:
    """Two networks, for synthetic and for authentic distortions, pooled bilinearly."""
    return _NETWORK.score(item)
