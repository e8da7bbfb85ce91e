"""The two halves of CLIP: images and words in one space."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from convergebench.errors import Prerequisite
from convergebench.images.frame import Frame
from convergebench.metrics._torch import exact, torch_for
from convergebench.metrics.place import Place, here
from convergebench.metrics.semantic._embedding import Vector, embedded, unit
from convergebench.metrics.semantic._transformer import network, stacked
from convergebench.weights import locate

WEIGHTS = "clip-vit-l14"
START, END = "<|startoftext|>", "<|endoftext|>"


def images(frames: Sequence[Frame]) -> list[Vector]:
    """The image embedding of each frame, not yet of length 1."""
    torch_for("semantic")
    place, folder = here(), locate(WEIGHTS)
    model = network("CLIPModel", folder, place)
    with exact():
        pooled = model.vision_model(pixel_values=stacked(frames, folder, place)).pooler_output
        vectors: list[Vector] = list(model.visual_projection(pooled).float().cpu().numpy())
    return vectors


def known_images(frames: Sequence[Frame]) -> dict[int, Vector]:
    """Unit vector of each frame by its identity, shared by all metrics that look through CLIP."""
    return embedded(frames, WEIGHTS, images)


def words(text: str) -> Vector:
    """Unit vector of a caption."""
    torch_for("semantic")
    return _words(text, locate(WEIGHTS), here())


@lru_cache(maxsize=1024)
def _words(text: str, folder: Path, place: Place) -> Vector:
    import torch

    model = network("CLIPModel", folder, place)
    longest = model.config.text_config.max_position_embeddings
    tokens = torch.tensor([token_ids(text, folder, longest)], device=place.device)
    with exact():
        # one caption at a time and no padding: attention looks backwards only, so nothing is to be masked
        pooled = model.text_model(input_ids=tokens).pooler_output
        return unit(model.text_projection(pooled)[0].float().cpu().numpy())


def token_ids(text: str, folder: Path, longest: int) -> list[int]:
    """The caption between the two marks, cut where the model can read no further."""
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
