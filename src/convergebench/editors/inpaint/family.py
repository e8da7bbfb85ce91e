"""The pipeline and its parts by name."""

from __future__ import annotations

from convergebench.editors.inpaint.editor import InpaintEditor
from convergebench.editors.inpaint.task import STEPS


def inpaint(name: str, **options: object) -> InpaintEditor:
    """`inpaint`: follows words by detecting, filling (MI-GAN) and pasting cut-outs; small and open, no large model."""
    return InpaintEditor(name, "inpaint", STEPS, options)


def inpaint_remove(name: str, **options: object) -> InpaintEditor:
    """`inpaint-remove`: the part of `inpaint` that finds an object and fills its place with MI-GAN."""
    return InpaintEditor(name, "inpaint-remove", ("remove",), options)


def inpaint_add(name: str, **options: object) -> InpaintEditor:
    """`inpaint-add`: the part of `inpaint` that pastes cut-outs of real objects at a fitting place and size."""
    return InpaintEditor(name, "inpaint-add", ("add",), options)


def inpaint_recolour(name: str, **options: object) -> InpaintEditor:
    """`inpaint-recolour`: the part of `inpaint` that finds an object and gives it another colour, with its shading."""
    return InpaintEditor(name, "inpaint-recolour", ("recolour",), options)
