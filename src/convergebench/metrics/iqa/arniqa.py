"""ARNIQA: a network that has learned how distortions change an image, with a linear regressor fitted to KonIQ-10k.

Agnolucci, Galteri, Bertini, Del Bimbo: ARNIQA: learning distortion manifold for image quality assessment (2024). The
image and its half-size copy pass through a ResNet-50; a linear regressor gives the score. About 0 to 1, higher is
better; a line has no ends, so scores leave that range. Code: pyiqa (PolyForm-Noncommercial-1.0.0). Weights: CC BY-NC
4.0 by the authors. Known traps: the score depends on the size in pixels, since nothing is rescaled to a common size.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("arniqa", modules=("arniqa_arch",), weights=("pyiqa-arniqa",), smallest=32)


@metric(
    "arniqa",
    range=(-inf, inf),
    paper="Agnolucci et al. 2024, arXiv:2310.14918",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("arniqa"),
)
def arniqa(item: Item) -> float:
    """Distortion-aware network with a linear regressor fitted to KonIQ-10k."""
    return _NETWORK.score(item)
