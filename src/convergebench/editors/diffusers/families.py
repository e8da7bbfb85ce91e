"""Which pipelines there are: one declaration each, as data.

A family is a pipeline class with its habits; a model is a checkpoint of a family with usual settings: those of the
pipeline's signature or example, or of published calls. Gigabytes are worked out from the numbers of parameters in 16
bits, not measured. Hub ids were looked up in November 2026, licences too except InstructPix2Pix's, which stands here
unchecked; the model's own page is what counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from convergebench.editors.diffusers.sizes import FollowArea, FollowInput, SizeRule

Batching = Literal["images", "references", "alone"]
"""How several chains share a call. `images`: a list of images is a batch. `references`: the pipeline takes a list for
several pictures of one scene, so the step that encodes them is replaced. `alone`: it takes one image at a time."""


@dataclass(frozen=True, slots=True)
class Family:
    """A pipeline class, how it is called and what it does about sizes."""

    name: str
    pipeline: str
    """The class in diffusers."""
    size: SizeRule
    batching: Batching
    arguments: tuple[tuple[str, str], ...]
    """Option → keyword of the pipeline."""
    sized: bool = True
    """Takes height and width."""
    same_words: bool = False
    """Its prompts are padded to the longest of a batch, so only equal words may share one."""
    tokenizer: str | None = None
    """A component that has to be loaded in our own way, see `processors`."""
    processor: str | None = None
    shortest: int = 1
    """The shortest side, in pixels, of images it takes."""


@dataclass(frozen=True, slots=True)
class Model:
    """A checkpoint on the hub, or for the generic editor none."""

    summary: str
    family: str
    hub: str
    licence: str
    gigabytes: float
    steps: int
    guidance: float | None = None
    noncommercial: bool = False
    gated: bool = False


_LENGTH = ("max_sequence_length", "max_sequence_length")
_GUIDANCE = ("guidance", "guidance_scale")
_NEGATIVE = ("negative_prompt", "negative_prompt")
_TRUE = ("true_cfg", "true_cfg_scale")
_LAYERS = ("text_encoder_out_layers", "text_encoder_out_layers")
_KONTEXT = (_GUIDANCE, _LENGTH, _NEGATIVE, _TRUE, ("auto_resize", "_auto_resize"))
_FLUX2 = (_GUIDANCE, _LENGTH, _LAYERS)
_QWEN = (_NEGATIVE, _TRUE, _LENGTH)

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("flux-kontext", "FluxKontextPipeline", FollowArea("down"), "images", _KONTEXT, shortest=16),
        Family("flux-2", "Flux2Pipeline", FollowInput(), "references", _FLUX2, tokenizer="tokenizer", shortest=64),
        Family("flux-2-klein", "Flux2KleinPipeline", FollowInput(), "references", _FLUX2, shortest=64),
        Family(
            "qwen-edit",
            "QwenImageEditPipeline",
            FollowArea("nearest", 32),
            "images",
            _QWEN,
            same_words=True,
            processor="processor",
        ),
        Family(
            "qwen-edit-plus",
            "QwenImageEditPlusPipeline",
            FollowArea("nearest", 32),
            "alone",
            _QWEN,
            processor="processor",
        ),
        Family(
            "instruct-pix2pix",
            "StableDiffusionInstructPix2PixPipeline",
            FollowInput(multiple="scale", capped=False),
            "images",
            (_GUIDANCE, ("image_guidance", "image_guidance_scale"), _NEGATIVE),
            sized=False,
            shortest=8,
        ),
    )
}

_FLUX1_TERMS = "FLUX.1 [dev] Non-Commercial License"
_FLUX_TERMS = "FLUX Non-Commercial License"
_APACHE = "Apache-2.0"

MODELS: dict[str, Model] = {
    "flux-kontext-dev": Model(
        "FLUX.1 Kontext [dev] on this machine",
        "flux-kontext",
        "black-forest-labs/FLUX.1-Kontext-dev",
        _FLUX1_TERMS,
        gigabytes=34,
        steps=28,
        guidance=2.5,
        noncommercial=True,
        gated=True,
    ),
    "flux-2-dev": Model(
        "FLUX.2 [dev] on this machine",
        "flux-2",
        "black-forest-labs/FLUX.2-dev",
        _FLUX_TERMS,
        gigabytes=113,
        steps=50,
        guidance=4.0,
        noncommercial=True,
        gated=True,
    ),
    "flux-2-klein-4b-local": Model(
        "FLUX.2 [klein] 4B on this machine",
        "flux-2-klein",
        "black-forest-labs/FLUX.2-klein-4B",
        _APACHE,
        gigabytes=16,
        steps=4,
        guidance=1.0,
    ),
    "flux-2-klein-9b-local": Model(
        "FLUX.2 [klein] 9B on this machine",
        "flux-2-klein",
        "black-forest-labs/FLUX.2-klein-9B",
        _FLUX_TERMS,
        gigabytes=35,
        steps=4,
        guidance=1.0,
        noncommercial=True,
        gated=True,
    ),
    "qwen-image-edit": Model(
        "Qwen-Image-Edit on this machine", "qwen-edit", "Qwen/Qwen-Image-Edit", _APACHE, gigabytes=58, steps=50
    ),
    "qwen-image-edit-2509": Model(
        "Qwen-Image-Edit-2509 on this machine",
        "qwen-edit-plus",
        "Qwen/Qwen-Image-Edit-2509",
        _APACHE,
        gigabytes=58,
        steps=40,
    ),
    "qwen-image-edit-2511": Model(
        "Qwen-Image-Edit-2511 on this machine",
        "qwen-edit-plus",
        "Qwen/Qwen-Image-Edit-2511",
        _APACHE,
        gigabytes=58,
        steps=40,
    ),
    "instruct-pix2pix": Model(
        "InstructPix2Pix on this machine",
        "instruct-pix2pix",
        "timbrooks/instruct-pix2pix",
        "MIT",
        gigabytes=3,
        steps=100,
        guidance=7.5,
    ),
}


def example(family: str) -> Model:
    """The model whose defaults the generic editor takes for a family."""
    return next(model for model in MODELS.values() if model.family == family)
