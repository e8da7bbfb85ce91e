"""WaDIQaM without reference: each patch of 32 pixels gets a score and a weight; the score is the weighted mean.

Bosse, Maniry, Müller, Wiegand, Samek: Deep neural networks for no-reference and full-reference image quality assessment
(2018). Trained on KonIQ-10k by pyiqa. About −1 to 0.1, higher is better. Code: pyiqa (PolyForm-Noncommercial-1.0.0).
Weights: pyiqa's. Known traps: pyiqa leaves out the last row and column of patches where the size is a multiple of 32,
and with them anything that happens there; an image must therefore be larger than 32 pixels.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("wadiqam_nr", modules=("wadiqam_arch",), weights=("pyiqa-wadiqam-nr",), smallest=33)


@metric(
    "wadiqam-nr",
    range=(-inf, inf),
    paper="Bosse et al. 2018, arXiv:1612.01697",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("wadiqam-nr"),
)
def wadiqam_nr(item: Item) -> float:
    """Weighted mean over patches of 32 pixels, trained on KonIQ-10k."""
    return _NETWORK.score(item)
