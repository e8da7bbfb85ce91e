"""The supported pipelines, declared as data.

A family is a pipeline class and its behaviour; a model is a checkpoint of a family with default settings, taken from
the pipeline's signature or example, or from published calls. Gigabytes are computed from the number of parameters in 16
bits, not measured. Hub ids and licences were looked up in November 2026, except InstructPix2Pix's licence, which is
unchecked; the model's own page is authoritative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from convergebench.editors.diffusers.sizes import FollowArea, FollowInput, SizeRule

Batching = Literal["images", "references", "alone"]
"""How requests share a call. `images`: a list of images is a batch. `references`: the pipeline takes a list for several
references of one sample, so the step that encodes them is replaced. `alone`: it takes one image at a time."""


@dataclass(frozen=True, slots=True)
class PipelineFamily:
    """A pipeline class, how it is called and how it sizes its output."""

    name: str
    pipeline: str
    """The class in diffusers."""
    size: SizeRule
    batching: Batching
    arguments: tuple[tuple[str, str], ...]
    """Option → keyword of the pipeline."""
    sized: bool = True
    """Takes height and width."""
    same_prompt: bool = False
    """Prompts are padded to the longest of a batch, so only equal prompts may share one."""
    tokenizer: str | None = None
    """A component that `processors` loads."""
    processor: str | None = None
    shortest: int = 1
    """Shortest side of an input image, in pixels."""


@dataclass(frozen=True, slots=True)
class DiffusersModel:
    """A checkpoint on the hub; the generic editor has none."""

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

FAMILIES: dict[str, PipelineFamily] = {
    family.name: family
    for family in (
        PipelineFamily("flux-kontext", "FluxKontextPipeline", FollowArea("down"), "images", _KONTEXT, shortest=16),
        PipelineFamily(
            "flux-2", "Flux2Pipeline", FollowInput(), "references", _FLUX2, tokenizer="tokenizer", shortest=64
        ),
        PipelineFamily("flux-2-klein", "Flux2KleinPipeline", FollowInput(), "references", _FLUX2, shortest=64),
        PipelineFamily(
            "qwen-edit",
            "QwenImageEditPipeline",
            FollowArea("nearest", 32),
            "images",
            _QWEN,
            same_prompt=True,
            processor="processor",
        ),
        PipelineFamily(
            "qwen-edit-plus",
            "QwenImageEditPlusPipeline",
            FollowArea("nearest", 32),
            "alone",
            _QWEN,
            processor="processor",
        ),
        PipelineFamily(
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

MODELS: dict[str, DiffusersModel] = {
    "flux-kontext-dev": DiffusersModel(
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
    "flux-2-dev": DiffusersModel(
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
    "flux-2-klein-4b-local": DiffusersModel(
        "FLUX.2 [klein] 4B on this machine",
        "flux-2-klein",
        "black-forest-labs/FLUX.2-klein-4B",
        _APACHE,
        gigabytes=16,
        steps=4,
        guidance=1.0,
    ),
    "flux-2-klein-9b-local": DiffusersModel(
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
    "qwen-image-edit": DiffusersModel(
        "Qwen-Image-Edit on this machine", "qwen-edit", "Qwen/Qwen-Image-Edit", _APACHE, gigabytes=58, steps=50
    ),
    "qwen-image-edit-2509": DiffusersModel(
        "Qwen-Image-Edit-2509 on this machine",
        "qwen-edit-plus",
        "Qwen/Qwen-Image-Edit-2509",
        _APACHE,
        gigabytes=58,
        steps=40,
    ),
    "qwen-image-edit-2511": DiffusersModel(
        "Qwen-Image-Edit-2511 on this machine",
        "qwen-edit-plus",
        "Qwen/Qwen-Image-Edit-2511",
        _APACHE,
        gigabytes=58,
        steps=40,
    ),
    "instruct-pix2pix": DiffusersModel(
        "InstructPix2Pix on this machine",
        "instruct-pix2pix",
        "timbrooks/instruct-pix2pix",
        "MIT",
        gigabytes=3,
        steps=100,
        guidance=7.5,
    ),
}


def example(family: str) -> DiffusersModel:
    """The model whose defaults the generic editor uses for a family."""
    return next(model for model in MODELS.values() if model.family == family)
