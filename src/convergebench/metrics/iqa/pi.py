"""PI, the perceptual index of the PIRM challenge: half of (10 − NRQM) + NIQE, four pixels off each edge.

Blau, Mechrez, Timofte, Michaeli, Zelnik-Manor: The 2018 PIRM challenge on perceptual image super-resolution (2018).
Above 0 as a rule, lower is better; there is no upper end. Code: pyiqa (PolyForm-Noncommercial-1.0.0). Weights: those of
NRQM and NIQE. Known traps: those of both parts. Its luma is that of YCbCr, while `nrqm` alone uses that of YIQ.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("pi", modules=("nrqm_arch", "niqe_arch"), weights=("pyiqa-nrqm", "pyiqa-niqe"), smallest=104)


@metric(
    "pi",
    range=(-inf, inf),
    paper="Blau et al. 2018, arXiv:1809.07517",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("pi"),
)
def pi(item: Item) -> float:
    """Half of (10 − NRQM) + NIQE, the index of the PIRM challenge."""
    return _NETWORK.score(item)
