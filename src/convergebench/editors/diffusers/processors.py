"""Two components that transformers builds only with torchvision, built without it.

torchvision wheels are built for CUDA and require a matching torch, for two small jobs: FLUX.2 needs only the tokenizer,
and the image for Qwen-Image-Edit is cut into patches. Both are done here even if torchvision is installed, so that it
never changes an answer. The tokenizer gives the same ids as FLUX.2's own processor; Qwen's patches differ from those of
torchvision by at most one grey level, as Pillow rounds when it resizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from convergebench.errors import Prerequisite

IMAGE = "<|image_pad|>"
_PLACE = "<|place|>"


def text_tokenizer(folder: Path) -> Any:
    """The tokenizer inside a processor's folder, with the processor's chat template."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained(str(folder))
    if not tokenizer.chat_template:
        raise Prerequisite(f"{folder} has no chat template; download the model again")
    return tokenizer


def image_text_processor(folder: Path) -> ImageTextProcessor:
    """Qwen's processor from its folder."""
    from transformers import AutoTokenizer
    from transformers.models.qwen2_vl import image_processing_pil_qwen2_vl as pillow

    patches = pillow.Qwen2VLImageProcessorPil.from_pretrained(str(folder))
    return ImageTextProcessor(AutoTokenizer.from_pretrained(str(folder)), patches)


class ImageTextProcessor:
    """Inserts a placeholder token into the prompt for every patch of every image, in order."""

    def __init__(self, tokenizer: Any, patches: Any) -> None:
        self.tokenizer = tokenizer
        self.patches = patches

    def __call__(
        self, *, text: Sequence[str], images: Any, padding: bool = True, return_tensors: str = "pt", **_: Any
    ) -> Any:
        """Tokenize prompts and images, with the signature that the pipelines expect."""
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
