"""Two components that transformers only builds next to torchvision, made without it.

torchvision comes from the registries built for CUDA and drags a matching torch behind it, for two small jobs: the words
of FLUX.2 go through the tokenizer alone, and the picture that Qwen-Image-Edit reads is cut into patches. Both are made
here, whether torchvision is there or not, so that it never decides an answer. The tokenizer gives the very same ids as
FLUX.2's own processor; Qwen's patches differ from those of torchvision by one grey level at most, as Pillow rounds when
it resizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from convergebench.errors import Prerequisite

IMAGE = "<|image_pad|>"
_PLACE = "<|place|>"


def words_alone(folder: Path) -> Any:
    """The tokenizer inside a processor's folder, with the processor's chat template."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained(str(folder))
    if not tokenizer.chat_template:
        raise Prerequisite(f"{folder} has no chat template; get the model's folder again")
    return tokenizer


def words_and_pictures(folder: Path) -> WordsAndPictures:
    """Qwen's processor from its folder."""
    from transformers import AutoTokenizer
    from transformers.models.qwen2_vl import image_processing_pil_qwen2_vl as pillow

    patches = pillow.Qwen2VLImageProcessorPil.from_pretrained(str(folder))
    return WordsAndPictures(AutoTokenizer.from_pretrained(str(folder)), patches)


class WordsAndPictures:
    """Makes room in the words for every patch of every picture, in order."""

    def __init__(self, tokenizer: Any, patches: Any) -> None:
        self.tokenizer = tokenizer
        self.patches = patches

    def __call__(
        self, *, text: Sequence[str], images: Any, padding: bool = True, return_tensors: str = "pt", **_: Any
    ) -> Any:
        """As the pipelines call it."""
        from transformers import BatchFeature

        seen = self.patches(images=images, return_tensors=return_tensors)
        merged = self.patches.merge_size**2
        counts = iter([int(grid.prod()) // merged for grid in seen["image_grid_thw"]])
        roomy = []
        for words in text:
            while IMAGE in words:
                words = words.replace(IMAGE, _PLACE * next(counts), 1)
            roomy.append(words.replace(_PLACE, IMAGE))
        return BatchFeature({**self.tokenizer(roomy, padding=padding, return_tensors=return_tensors), **seen})
