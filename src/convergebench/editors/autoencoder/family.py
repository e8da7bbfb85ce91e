"""The tiny autoencoders by name."""

from __future__ import annotations

from convergebench.editors.autoencoder.editor import AutoencoderEditor


def taesd(name: str, **options: object) -> AutoencoderEditor:
    """`taesd`: a round trip through the latent space of SD 1.x and 2.x (tiny autoencoder), with no edit."""
    return AutoencoderEditor(name, "taesd", options)


def taesdxl(name: str, **options: object) -> AutoencoderEditor:
    """`taesdxl`: a round trip through the latent space of SDXL (tiny autoencoder), with no edit."""
    return AutoencoderEditor(name, "taesdxl", options)


def taesd3(name: str, **options: object) -> AutoencoderEditor:
    """`taesd3`: a round trip through the latent space of SD 3 (tiny autoencoder), with no edit."""
    return AutoencoderEditor(name, "taesd3", options)


def taef1(name: str, **options: object) -> AutoencoderEditor:
    """`taef1`: a round trip through the latent space of FLUX.1 (tiny autoencoder), with no edit."""
    return AutoencoderEditor(name, "taef1", options)


def taef2(name: str, **options: object) -> AutoencoderEditor:
    """`taef2`: a round trip through the latent space of FLUX.2 (tiny autoencoder), with no edit."""
    return AutoencoderEditor(name, "taef2", options)
