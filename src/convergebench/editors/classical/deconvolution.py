"""What the two deconvolvers share: options, the choice of the blur, luminance in and out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import cv2
import numpy as np
from pydantic import Field

from convergebench.documents import Strict
from convergebench.editors.classical.answer import ClassicalAnswer
from convergebench.editors.classical.blur import estimate_blur
from convergebench.editors.classical.luminance import luminance, with_luminance
from convergebench.editors.classical.noise import noise_level, was_processed
from convergebench.editors.classical.psf import PointSpread, read_psf
from convergebench.editors.classical.taper import tapered
from convergebench.images.frame import Pixels, Plane

OVERSHOOT = 0.3
"""How far a pixel may leave the range of its surroundings, as a share of that range: beyond it there is ringing."""
LEAST_NOISE = 0.5
CAUTIOUS = 12.0
"""Noise in levels that is assumed at least in a compressed or enlarged picture whose blur is only estimated."""

Deconvolve = Callable[[Plane, Plane, float], tuple[Plane, dict[str, Any]]]
"""A continued luminance from 0 to 1, the kernel and the noise (same scale) → the restored one, and what was used."""


class DeconvolutionOptions(Strict):
    """Which blur is undone."""

    psf: Annotated[str, Field(max_length=40)] = "auto"
    """`auto`: estimated from the picture, nothing done if there is none; or `gauss:1.5`, `disk:4`, `line:15@30`."""


def given_psf(options: DeconvolutionOptions) -> PointSpread | None:
    """The blur that the options name; None: to be estimated."""
    return None if options.psf == "auto" else read_psf(options.psf)


class BlurFinding(NamedTuple):
    """The blur of a picture (None: none), the noise in levels to reckon with, and the record."""

    psf: PointSpread | None
    noise: float
    used: dict[str, Any]


def find_blur(pixels: Pixels, psf: PointSpread | None) -> BlurFinding:
    """The given blur, or the one that the picture shows."""
    noise = max(noise_level(pixels), LEAST_NOISE)
    if psf is not None:
        return BlurFinding(psf, noise, {"psf": str(psf)})
    estimate = estimate_blur(luminance(pixels))
    if estimate.psf is not None and was_processed(pixels):
        # what a codec or an enlargement left at edges is no noise of any deviation, and would be sharpened
        noise = max(noise, CAUTIOUS)
    return BlurFinding(estimate.psf, noise, {"explains": round(estimate.gain, 3), "psf": str(estimate.psf or "none")})


def deconvolved(pixels: Pixels, blur: BlurFinding, deconvolve: Deconvolve) -> ClassicalAnswer:
    """The picture with its blur undone, in luminance."""
    psf = blur.psf
    if psf is None:
        return ClassicalAnswer(pixels, blur.used)
    before = luminance(pixels)
    whole, inside = tapered(before, 2 * psf.reach + 8)
    restored, more = deconvolve(whole, psf.kernel(), blur.noise / 255)
    cut = restored[inside][: before.shape[0], : before.shape[1]]
    return ClassicalAnswer(with_luminance(pixels, before, _calmed(before, cut, psf.reach)), {**blur.used, **more})


def _calmed(before: Plane, after: Plane, reach: int) -> Plane:
    """The restored plane within the range of what was around each pixel, and a share of that range beyond."""
    window = np.ones((2 * min(reach, 12) + 1,) * 2, np.uint8)
    calm = cv2.GaussianBlur(before, (0, 0), 1.0)  # noise would widen the range
    low, high = cv2.erode(calm, window), cv2.dilate(calm, window)
    slack = OVERSHOOT * (high - low) + 0.006
    return np.asarray(np.clip(after, low - slack, high + slack), np.float32)
