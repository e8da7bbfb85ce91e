"""The MAXIM restorers by name."""

from __future__ import annotations

from convergebench.editors.maxim.editor import MaximEditor


def maxim_denoising(name: str, **options: object) -> MaximEditor:
    """`maxim-denoising`: takes a camera's noise away (MAXIM, learned from SIDD), whatever the words say."""
    return MaximEditor(name, "denoising", options)


def maxim_deblurring(name: str, **options: object) -> MaximEditor:
    """`maxim-deblurring`: takes the blur of motion away (MAXIM, learned from GoPro), whatever the words say."""
    return MaximEditor(name, "deblurring", options)


def maxim_deraining(name: str, **options: object) -> MaximEditor:
    """`maxim-deraining`: takes rain away (MAXIM, learned from Rain13k), whatever the words say."""
    return MaximEditor(name, "deraining", options)


def maxim_enhancement(name: str, **options: object) -> MaximEditor:
    """`maxim-enhancement`: lights up what is dark (MAXIM, learned from LOL), whatever the words say."""
    return MaximEditor(name, "enhancement", options)


def maxim_retouching(name: str, **options: object) -> MaximEditor:
    """`maxim-retouching`: retouches colours and light (MAXIM, learned from FiveK), whatever the words say."""
    return MaximEditor(name, "retouching", options)


def maxim_dehazing_indoor(name: str, **options: object) -> MaximEditor:
    """`maxim-dehazing-indoor`: takes haze away in rooms (MAXIM, learned from RESIDE), whatever the words say."""
    return MaximEditor(name, "dehazing-indoor", options)


def maxim_dehazing_outdoor(name: str, **options: object) -> MaximEditor:
    """`maxim-dehazing-outdoor`: takes haze away outdoors (MAXIM, learned from RESIDE), whatever the words say."""
    return MaximEditor(name, "dehazing-outdoor", options)
