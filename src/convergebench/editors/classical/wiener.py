"""Wiener–Hunt deconvolution: the blur divided out where it left more than noise, and smoothness asked for elsewhere."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field
from scipy import fft

from convergebench.editors.classical.answer import ClassicalAnswer
from convergebench.editors.classical.deconvolution import (
    BlurFinding,
    DeconvolutionOptions,
    deconvolved,
    find_blur,
    given_psf,
)
from convergebench.editors.classical.psf import otf
from convergebench.images.frame import Pixels, Plane

LAPLACIAN = np.array([[0, -1, 0], [-1, 4, -1], [0, -1, 0]], np.float32)
WITHOUT_NOISE, PER_VARIANCE = 0.005, 0.0008
"""Weight of smoothness without noise, and what each squared level of noise adds: best over blurred photographs."""


class WienerOptions(DeconvolutionOptions):
    """Which blur is undone, and how cautiously."""

    balance: Annotated[float, Field(gt=0, le=100)] | None = None
    """Weight of smoothness; unset: more, the noisier the picture is."""


def wiener(pixels: Pixels, options: WienerOptions) -> ClassicalAnswer:
    """The picture with its blur undone."""

    def deconvolve(plane: Plane, kernel: Plane, noise: float) -> tuple[Plane, dict[str, Any]]:
        balance = options.balance or balance_for(noise)
        return divided(plane, kernel, balance), {"balance": round(balance, 5)}

    return deconvolved(pixels, find_blur(pixels, given_psf(options)), deconvolve)


def sharpened(pixels: Pixels, blur: BlurFinding) -> ClassicalAnswer:
    """The picture with a blur undone that was found earlier."""
    return deconvolved(pixels, blur, lambda plane, kernel, noise: (divided(plane, kernel, balance_for(noise)), {}))


def balance_for(noise: float) -> float:
    """Weight of smoothness for noise of this deviation (of a range of 1)."""
    return WITHOUT_NOISE + PER_VARIANCE * (255 * noise) ** 2


def divided(plane: Plane, kernel: Plane, balance: float) -> Plane:
    """H* / (|H|² + balance·|L|²) applied to the plane, which repeats beyond its edges; L is the Laplacian."""
    shape = (plane.shape[0], plane.shape[1])
    transfer, smooth = otf(kernel, shape), otf(LAPLACIAN, shape)
    gain = np.conj(transfer) / (np.square(np.abs(transfer)) + np.float32(balance) * np.square(np.abs(smooth)))
    return np.asarray(fft.irfft2(fft.rfft2(plane) * gain, shape), np.float32)
