"""CLIP's image and text encoders."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from convergebench.errors import Prerequisite
from convergebench.images.frame import Frame
from convergebench.metrics._torch import full_precision, torch_for
from convergebench.metrics.place import Place, here
from convergebench.metrics.semantic._embedding import Vector, embedded, unit
from convergebench.metrics.semantic._transformer import network, stacked
from convergebench.weights import locate

WEIGHTS = "clip-vit-l14"
START, END = "<|startoftext|>", "<|endoftext|>"


def embed_images(frames: Sequence[Frame]) -> list[Vector]:
    """The image embedding of each frame, not yet of length 1."""
    torch_for("semantic")
    place, folder = here(), locate(WEIGHTS)
    model = network("CLIPModel", folder, place)
    with full_precision():
        pooled = model.vision_model(pixel_values=stacked(frames, folder, place)).pooler_output
        vectors: list[Vector] = list(model.visual_projection(pooled).float().cpu().numpy())
    return vectors


def image_vectors(frames: Sequence[Frame]) -> dict[int, Vector]:
    """Unit vector of each frame by `id(frame)`, shared by all metrics that use CLIP."""
    return embedded(frames, WEIGHTS, embed_images)


def embed_text(text: str) -> Vector:
    """Unit vector of a caption."""
    torch_for("semantic")
    return _embed_text(text, locate(WEIGHTS), here())


@lru_cache(maxsize=1024)
def _embed_text(text: str, folder: Path, place: Place) -> Vector:
    import torch

    model = network("CLIPModel", folder, place)
    longest = model.config.text_config.max_position_embeddings
    tokens = torch.tensor([token_ids(text, folder, longest)], device=place.device)
    with full_precision():
        # one caption at a time without padding, so no mask is needed
        pooled = model.text_model(input_ids=tokens).pooler_output
        return unit(model.text_projection(pooled)[0].float().cpu().numpy())


def token_ids(text: str, folder: Path, longest: int) -> list[int]:
    """The caption's tokens between start and end marks, cut to the model's longest input."""
    tokenizer = _tokenizer(folder)
    start, end = tokenizer.token_to_id(START), tokenizer.token_to_id(END)
    if start is None or end is None:
        raise Prerequisite(f"{folder / 'tokenizer.json'} is not CLIP's: it has no {START} and {END}")
    inner = tokenizer.encode(text, add_special_tokens=False).ids
    return [start, *inner[: longest - 2], end]


@cache
def _tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json"))
