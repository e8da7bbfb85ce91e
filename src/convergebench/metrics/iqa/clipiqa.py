"""CLIP-IQA: whether CLIP matches the image to "good" or to "bad" phrases.

Wang, Chan, Loy: Exploring CLIP for assessing the look and feel of images (2023). Five pairs of opposite phrases are
compared with the image by CLIP RN50 without its position embedding; the mean share of the good ones is the score. 0 to
1, higher is better. Code: pyiqa (PolyForm-Noncommercial-1.0.0; the original S-Lab 1.0, noncommercial). Weights:
OpenAI's CLIP (MIT). Known traps: the paper uses one pair of phrases, pyiqa five, so scores differ from the paper's;
content moves the score.
"""

from __future__ import annotations

from convergebench.metrics.base import Item, metric
from convergebench.metrics.iqa._pyiqa import LICENCE, PyiqaNetwork
from convergebench.metrics.iqa.published import pyiqa_facts

_NETWORK = PyiqaNetwork("clipiqa", modules=("clipiqa_arch",), weights=("clip-rn50-openai",), smallest=32)


@metric(
    "clipiqa",
    range=(0.0, 1.0),
    paper="Wang et al. 2023, arXiv:2207.12396",
    licence=LICENCE,
    weights=_NETWORK.weights,
    **pyiqa_facts("clipiqa"),
)
def clipiqa(item: Item) -> float:
    """Preference for five positive phrases over their opposites, by CLIP RN50."""
    return _NETWORK.score(item)
