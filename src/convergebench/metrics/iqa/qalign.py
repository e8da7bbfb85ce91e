"""Q-Align: a large vision-language model is asked to rate the image; its five words are turned into a number.

Wu and others: Q-Align: teaching LMMs for visual scoring via discrete text-defined levels (2024). The probabilities of
"excellent" to "bad" are averaged as 5 to 1. 1 to 5, higher is better. Code: pyiqa (PolyForm-Noncommercial-1.0.0).
Weights: q-future/one-align, about 16 GB in half precision, MIT over LLaMA 2. Known traps: it runs
in float16 and needs a GPU with 20 GB; the image is padded to a square of CLIP's mean colour and scaled to 448 pixels.
"""

from __future__ import annotations

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork(
    "qalign", modules=("qalign_arch", "q_align.modeling_mplug_owl2"), weights=("q-align",), folder=True, smallest=2
)


@metric(
    "qalign",
    range=(1.0, 5.0),
    paper="Wu et al. 2024, arXiv:2312.17090",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("qalign"),
)
def qalign(item: Item) -> float:
    """Rating by the vision-language model OneAlign, averaged over its five levels."""
    return _NETWORK.score(item)
