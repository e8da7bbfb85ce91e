"""Honest restorations of degraded photographs: filters, and the learned restorers whose weights are here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache

import cv2
import numpy as np

from convergebench.editors.find import make_editor
from convergebench.errors import ConvergeBenchError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.types import Editor, EditRequest

Restorer = Callable[[Pixels], Pixels | None]


def median(pixels: Pixels) -> Pixels:
    """The median of five by five."""
    return np.asarray(cv2.medianBlur(pixels, 5), np.uint8)


def non_local_means(pixels: Pixels) -> Pixels:
    """Non-local means of filter strength 8."""
    return np.asarray(cv2.fastNlMeansDenoisingColored(pixels, None, 8, 8, 5, 15), np.uint8)


def unsharp(pixels: Pixels) -> Pixels:
    """Unsharp masking: 1.2 times what a blur of 2 pixels takes away."""
    values = pixels.astype(np.float32)
    return _whole(values + 1.2 * (values - cv2.GaussianBlur(values, (0, 0), 2)))


def deconvolved(pixels: Pixels) -> Pixels:
    """Ten rounds of Richardson–Lucy for a Gaussian of 2 pixels, whatever the blur was."""
    seen = pixels.astype(np.float32) / 255 + np.float32(1e-3)
    guess = seen.copy()
    for _ in range(10):
        ratio = seen / np.maximum(cv2.GaussianBlur(guess, (0, 0), 2), 1e-3)
        guess = guess * cv2.GaussianBlur(ratio, (0, 0), 2)
    return _whole(255 * guess)


def _learned(name: str) -> Restorer:
    def restore(pixels: Pixels) -> Pixels | None:
        """What the network makes of it; None where its weights are not here."""
        try:
            request = EditRequest(encode_png(pixels, compression=1), "image/png", "", seed=1, case=name, index=1)
            return decode(asyncio.run(_edited(name, request)), what=name).pixels
        except ConvergeBenchError:
            return None

    return restore


async def _edited(name: str, request: EditRequest) -> bytes:
    return (await _editor(name).edit(request)).image


@cache
def _editor(name: str) -> Editor:
    return make_editor(name, name)


def _whole(values: np.ndarray[tuple[int, ...], np.dtype[np.floating]]) -> Pixels:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


RESTORERS: dict[str, Restorer] = {
    "median": median,
    "waifu2x-denoise": _learned("waifu2x-denoise"),
    "unsharp": unsharp,
    "span-x2": _learned("span-x2"),
    "non-local-means": non_local_means,
    "realesrgan-x4": _learned("realesrgan-x4"),
    "deconvolved": deconvolved,
}
