"""Batching for FLUX.2, which treats a list of images as references for every sample.

To batch several requests, the step that turns the list into tokens is replaced: each sample gets the tokens of its own
image, at the position of a single reference. Everything else is the pipeline's own, and a test checks that a batch
gives the same results as single samples.
"""

from __future__ import annotations

from types import MethodType
from typing import Any


def batch_references(pipeline: Any) -> None:
    """Change this pipeline so that a list of images is a batch."""
    pipeline.prepare_image_latents = MethodType(_prepare_image_latents, pipeline)


def _prepare_image_latents(
    self: Any, images: list[Any], batch_size: int, generator: Any, device: Any, dtype: Any
) -> tuple[Any, Any]:
    import torch

    if len(images) != batch_size:
        raise ValueError(f"{len(images)} images for {batch_size} samples")
    latents = [self._encode_vae_image(image=image.to(device, dtype), generator=generator) for image in images]
    tokens = torch.cat([self._pack_latents(latent) for latent in latents]).to(device)
    ids = self._prepare_image_ids(latents[:1]).repeat(batch_size, 1, 1).to(device)
    return tokens, ids
