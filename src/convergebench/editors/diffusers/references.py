"""FLUX.2 takes a list of images for several pictures of one scene and gives every sample all of them.

To send several chains through one call, the step that turns the list into tokens is replaced: each sample gets the
tokens of its own image, at the place a single reference has. Everything else is the pipeline's own, and a test holds
that a batch gives what the samples give alone.
"""

from __future__ import annotations

from types import MethodType
from typing import Any


def one_each(pipeline: Any) -> None:
    """Let this pipeline take a list of images as a batch from now on."""
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
