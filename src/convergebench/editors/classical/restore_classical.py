"""The usual sequence: noise first, as it hides scratches; then scratches, which would ring; then a mild deblurring."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from convergebench.documents import Strict
from convergebench.editors.classical.answer import ClassicalAnswer
from convergebench.editors.classical.deconvolution import find_blur
from convergebench.editors.classical.luminance import levels
from convergebench.editors.classical.noise import noise_level
from convergebench.editors.classical.non_local_means import NonLocalMeansOptions, non_local_means
from convergebench.editors.classical.scratch_inpaint import ScratchInpaintOptions, scratch_inpaint
from convergebench.editors.classical.wiener import sharpened
from convergebench.images.frame import Pixels


class RestoreClassicalOptions(Strict):
    """How much of each step."""

    denoise: Annotated[float, Field(ge=0, le=5)] = 1.0
    """Strength of non-local means; 0: none."""
    scratches: Annotated[float, Field(ge=0, le=5)] = 0.85
    """Sensitivity of the search for scratches; 0: none. Less than alone: denoised texture has thin lines too."""
    deblur: Annotated[float, Field(ge=0, le=1)] = 0.7
    """Share of the deblurring's change that is kept; 0: none."""


def restore_classical(pixels: Pixels, options: RestoreClassicalOptions) -> ClassicalAnswer:
    """The picture denoised, repaired and a little sharper."""
    used: dict[str, object] = {}
    noise = noise_level(pixels)
    # looked for in the picture as it came: a denoised one always looks a little blurred
    blur = find_blur(pixels, None) if options.deblur else None
    if options.denoise:
        done = non_local_means(pixels, NonLocalMeansOptions(strength=options.denoise))
        pixels = done.pixels
        used.update(done.used)
    if options.scratches:
        done = scratch_inpaint(pixels, ScratchInpaintOptions(sensitivity=max(0.2, options.scratches)), noise=noise)
        pixels = done.pixels
        used.update(done.used)
    if blur is not None:
        done = sharpened(pixels, blur)
        pixels = levels((1 - options.deblur) * pixels.astype("float32") + options.deblur * done.pixels)
        used.update(done.used)
    return ClassicalAnswer(pixels, used)
