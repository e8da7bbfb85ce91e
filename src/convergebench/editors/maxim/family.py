"""The MAXIM restorers by name."""

from __future__ import annotations

from convergebench.editors.maxim.editor import MaximEditor


def maxim_denoising(name: str, **options: object) -> MaximEditor:
    """`maxim-denoising`: removes camera noise (MAXIM, trained on SIDD); ignores the instruction."""
    return MaximEditor(name, "denoising", options)


def maxim_deblurring(name: str, **options: object) -> MaximEditor:
    """`maxim-deblurring`: removes motion blur (MAXIM, trained on GoPro); ignores the instruction."""
    return MaximEditor(name, "deblurring", options)


def maxim_deraining(name: str, **options: object) -> MaximEditor:
    """`maxim-deraining`: removes rain (MAXIM, trained on Rain13k); ignores the instruction."""
    return MaximEditor(name, "deraining", options)


def maxim_enhancement(name: str, **options: object) -> MaximEditor:
    """`maxim-enhancement`: brightens dark images (MAXIM, trained on LOL); ignores the instruction."""
    return MaximEditor(name, "enhancement", options)


def maxim_retouching(name: str, **options: object) -> MaximEditor:
    """`maxim-retouching`: retouches colour and light (MAXIM, trained on FiveK); ignores the instruction."""
    return MaximEditor(name, "retouching", options)


def maxim_dehazing_indoor(name: str, **options: object) -> MaximEditor:
    """`maxim-dehazing-indoor`: removes indoor haze (MAXIM, trained on RESIDE); ignores the instruction."""
    return MaximEditor(name, "dehazing-indoor", options)


def maxim_dehazing_outdoor(name: str, **options: object) -> MaximEditor:
    """`maxim-dehazing-outdoor`: removes outdoor haze (MAXIM, trained on RESIDE); ignores the instruction."""
    return MaximEditor(name, "dehazing-outdoor", options)
