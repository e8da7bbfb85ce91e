"""Learned networks that edit nothing, at the size and in the file format of large models."""

from __future__ import annotations

from typing import Any

from convergebench.documents import check_document
from convergebench.editors.composite.remake import FloorOptions, RemakeEditor
from convergebench.editors.find import make_editor

# large models keep their latents in 16 bits
ROUNDED = {"latent": "bfloat16"}
# a network that enlarges takes the place of a decoder, and a small picture that of the latent
SHRUNK = {"shrink": "before"}


def _floor(name: str, network: str, inside: dict[str, str], options: dict[str, Any]) -> RemakeEditor:
    read = check_document(options, FloorOptions, where=f"editor '{name}'")
    return RemakeEditor(name, make_editor(network, **inside), read)


def remake_taesd(name: str, **options: Any) -> RemakeEditor:
    """`remake-taesd`: regenerates the image at 1 MP through the latent space of SD 1.x and 2.x, as JPEG."""
    return _floor(name, "taesd", ROUNDED, options)


def remake_taesdxl(name: str, **options: Any) -> RemakeEditor:
    """`remake-taesdxl`: regenerates the image at 1 MP through the latent space of SDXL, as JPEG."""
    return _floor(name, "taesdxl", ROUNDED, options)


def remake_taesd3(name: str, **options: Any) -> RemakeEditor:
    """`remake-taesd3`: regenerates the image at 1 MP through the latent space of SD 3, as JPEG."""
    return _floor(name, "taesd3", ROUNDED, options)


def remake_taef1(name: str, **options: Any) -> RemakeEditor:
    """`remake-taef1`: regenerates the image at 1 MP through the latent space of FLUX.1, as JPEG."""
    return _floor(name, "taef1", ROUNDED, options)


def remake_taef2(name: str, **options: Any) -> RemakeEditor:
    """`remake-taef2`: regenerates the image at 1 MP through the latent space of FLUX.2, as JPEG."""
    return _floor(name, "taef2", ROUNDED, options)


def remake_span(name: str, **options: Any) -> RemakeEditor:
    """`remake-span`: regenerates the image at 1 MP from half its side length with SPAN, as JPEG."""
    return _floor(name, "span-x2", SHRUNK, options)


def remake_realesr_anime(name: str, **options: Any) -> RemakeEditor:
    """`remake-realesr-anime`: regenerates the image at 1 MP from half its side length with Real-ESRGAN, as JPEG."""
    return _floor(name, "realesr-anime", SHRUNK, options)


def remake_realesrgan(name: str, **options: Any) -> RemakeEditor:
    """`remake-realesrgan`: regenerates the image at 1 MP from a quarter of its side length with RealESRGAN, as JPEG."""
    return _floor(name, "realesrgan-x4", SHRUNK, options)
