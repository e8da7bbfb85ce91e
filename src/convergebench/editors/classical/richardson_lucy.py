"""Richardson–Lucy deconvolution (Richardson 1972, Lucy 1974): repeated correction towards what explains the blur."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field
from scipy import fft

from convergebench.editors.classical.answer import ClassicalAnswer
from convergebench.editors.classical.deconvolution import DeconvolutionOptions, deconvolved, find_blur, given_psf
from convergebench.editors.classical.psf import otf
from convergebench.images.frame import Pixels, Plane

MOST, LEAST = 30, 4
"""Rounds for a picture without noise, and for a very noisy one: noise grows with every round."""
TIMES_NOISE = 90.0
"""Rounds times levels of noise: best over blurred photographs."""
SMALL = 1e-6


class RichardsonLucyOptions(DeconvolutionOptions):
    """Which blur is undone, and how far."""

    rounds: Annotated[int, Field(ge=1, le=200)] | None = None
    """Corrections; unset: fewer, the noisier the picture is."""


def richardson_lucy(pixels: Pixels, options: RichardsonLucyOptions) -> ClassicalAnswer:
    """The picture with its blur undone."""

    def deconvolve(plane: Plane, kernel: Plane, noise: float) -> tuple[Plane, dict[str, Any]]:
        rounds = options.rounds or rounds_for(noise)
        return corrected(plane, kernel, rounds), {"rounds": rounds}

    return deconvolved(pixels, find_blur(pixels, given_psf(options)), deconvolve)


def rounds_for(noise: float) -> int:
    """Rounds for noise of this deviation (of a range of 1)."""
    return int(np.clip(round(TIMES_NOISE / max(255 * noise, 0.1)), LEAST, MOST))


def corrected(plane: Plane, kernel: Plane, rounds: int) -> Plane:
    """The estimate after so many rounds, from an even grey; the plane repeats beyond its edges."""
    transfer = otf(kernel, (plane.shape[0], plane.shape[1]))
    back = np.conj(transfer)
    observed = np.maximum(plane, SMALL)
    estimate = np.full_like(plane, 0.5)
    for _ in range(rounds):
        expected = fft.irfft2(fft.rfft2(estimate) * transfer, plane.shape)
        ratio = observed / np.maximum(expected, SMALL)
        estimate = np.maximum(estimate * fft.irfft2(fft.rfft2(ratio) * back, plane.shape), 0).astype(np.float32)
    return np.asarray(estimate, np.float32)
