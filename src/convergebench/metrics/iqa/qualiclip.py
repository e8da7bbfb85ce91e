"""QualiCLIP: CLIP tuned without opinions, by ranking ever more damaged copies of an image.

Agnolucci, Galteri, Bertini: Quality-aware image-text alignment for opinion-unaware image quality assessment (2024).
Opposite phrases are compared with the image; the mean share of the good ones is the score. 0 to 1, higher is better.
Code: pyiqa (PolyForm-Noncommercial-1.0.0). Weights: CC BY-NC 4.0 by the authors, over OpenAI's CLIP RN50 (MIT). Known
traps: the image is taken at its own size, so the score depends on it.
"""

from __future__ import annotations

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork(
    "qualiclip", modules=("qualiclip_arch",), weights=("clip-rn50-openai", "pyiqa-qualiclip"), smallest=32
)


@metric(
    "qualiclip",
    range=(0.0, 1.0),
    paper="Agnolucci et al. 2024, arXiv:2403.11176",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("qualiclip"),
)
def qualiclip(item: Item) -> float:
    """Preference for positive phrases over their opposites, by a CLIP tuned on degradations."""
    return _NETWORK.score(item)
