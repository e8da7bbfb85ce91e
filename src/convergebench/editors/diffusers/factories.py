"""The factories of the registered local pipelines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from convergebench.editors.diffusers.editor import DiffusersEditor
from convergebench.editors.diffusers.families import MODELS, example
from convergebench.editors.diffusers.options import read_family, read_options


def _make(builtin: str, name: str, options: dict[str, Any]) -> DiffusersEditor:
    model = MODELS[builtin]
    return DiffusersEditor(name, model, read_options(name, model, options))


def flux_kontext_dev(name: str, **options: Any) -> DiffusersEditor:
    """`flux-kontext-dev`: FLUX.1 Kontext [dev] on this machine (12B, noncommercial)."""
    return _make("flux-kontext-dev", name, options)


def flux_2_dev(name: str, **options: Any) -> DiffusersEditor:
    """`flux-2-dev`: FLUX.2 [dev] on this machine (32B, noncommercial)."""
    return _make("flux-2-dev", name, options)


def flux_2_klein_4b(name: str, **options: Any) -> DiffusersEditor:
    """`flux-2-klein-4b-local`: FLUX.2 [klein] 4B on this machine, in four steps."""
    return _make("flux-2-klein-4b-local", name, options)


def flux_2_klein_9b(name: str, **options: Any) -> DiffusersEditor:
    """`flux-2-klein-9b-local`: FLUX.2 [klein] 9B on this machine, in four steps (noncommercial)."""
    return _make("flux-2-klein-9b-local", name, options)


def qwen_image_edit(name: str, **options: Any) -> DiffusersEditor:
    """`qwen-image-edit`: Qwen-Image-Edit on this machine (20B)."""
    return _make("qwen-image-edit", name, options)


def qwen_image_edit_2509(name: str, **options: Any) -> DiffusersEditor:
    """`qwen-image-edit-2509`: Qwen-Image-Edit-2509 on this machine (20B)."""
    return _make("qwen-image-edit-2509", name, options)


def qwen_image_edit_2511(name: str, **options: Any) -> DiffusersEditor:
    """`qwen-image-edit-2511`: Qwen-Image-Edit-2511 on this machine (20B)."""
    return _make("qwen-image-edit-2511", name, options)


def instruct_pix2pix(name: str, **options: Any) -> DiffusersEditor:
    """`instruct-pix2pix`: InstructPix2Pix on this machine (Stable Diffusion 1.5)."""
    return _make("instruct-pix2pix", name, options)


def diffusers(name: str, **options: Any) -> DiffusersEditor:
    """`diffusers`: any checkpoint of a known family; options family and path."""
    family = read_family(name, options)
    model = example(family.name)
    rest = {option: value for option, value in options.items() if option != "family"}
    # licence and size of a user's checkpoint are unknown
    unknown = replace(model, hub=str(options["path"]), licence="", gigabytes=0, noncommercial=False, gated=False)
    return DiffusersEditor(name, unknown, read_options(name, unknown, rest))
