"""The pipeline and its parts by name."""

from __future__ import annotations

from convergebench.editors.inpaint.editor import InpaintEditor
from convergebench.editors.inpaint.task import STEPS


def inpaint(name: str, **options: object) -> InpaintEditor:
    """`inpaint`: follows instructions by detecting, inpainting (MI-GAN) and pasting cut-outs; small and open."""
    return InpaintEditor(name, "inpaint", STEPS, options)


def inpaint_remove(name: str, **options: object) -> InpaintEditor:
    """`inpaint-remove`: the part of `inpaint` that finds an object and inpaints its place with MI-GAN."""
    return InpaintEditor(name, "inpaint-remove", ("remove",), options)


def inpaint_add(name: str, **options: object) -> InpaintEditor:
    """`inpaint-add`: the part of `inpaint` that pastes cut-outs of real objects at a suitable place and size."""
    return InpaintEditor(name, "inpaint-add", ("add",), options)


def inpaint_recolour(name: str, **options: object) -> InpaintEditor:
    """`inpaint-recolour`: the part of `inpaint` that finds an object and changes its colour, keeping the shading."""
    return InpaintEditor(name, "inpaint-recolour", ("recolour",), options)
