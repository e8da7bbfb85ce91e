"""NRQM, also called Ma: statistics of frequencies, textures and patches, scored by three regression forests.

Ma, Yang, Yang, Yang: Learning a no-reference quality metric for single-image super-resolution (2017). About 0 to 10,
higher is better. Code: pyiqa (PolyForm-Noncommercial-1.0.0). Weights: the authors' forests as a MATLAB file; licence
not stated. Known traps: trained on enlarged images, it takes sharp artefacts for quality. The forests jump: a tiny
change of a feature may move the score by a leaf. They run on the processor whatever the device.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("nrqm", modules=("nrqm_arch",), weights=("pyiqa-nrqm",), smallest=48)


@metric(
    "nrqm",
    range=(-inf, inf),
    paper="Ma et al. 2017, arXiv:1612.05890",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("nrqm"),
)
def nrqm(item: Item) -> float:
    """Frequency, texture and patch statistics scored by regression forests."""
    return _NETWORK.score(item)
