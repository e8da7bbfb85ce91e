"""Photographs, planted damage whose amount is known, and a driver for the tests of classical restorers."""

from __future__ import annotations

import asyncio
import importlib
from functools import cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.classical.psf import read_psf
from convergebench.editors.find import make_editor
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.types import Edited, EditRequest

PHOTOGRAPHS = ("astronaut", "coffee", "chelsea")


@cache
def photograph(name: str, side: int = 256) -> Pixels:
    """The middle square of a photograph of scikit-image."""
    data: Any = importlib.import_module("skimage.data")
    pixels: NDArray[np.uint8] = getattr(data, name)()
    short = min(pixels.shape[:2])
    top, left = (pixels.shape[0] - short) // 2, (pixels.shape[1] - short) // 2
    square = pixels[top : top + short, left : left + short, :3]
    return np.asarray(cv2.resize(square, (side, side), interpolation=cv2.INTER_AREA), np.uint8)


def noisy(pixels: Pixels, sigma: float, seed: int = 0) -> Pixels:
    """Independent noise of this deviation in levels."""
    values = pixels + np.random.default_rng(seed).normal(0, sigma, pixels.shape)
    return np.rint(np.clip(values, 0, 255)).astype(np.uint8)


def blurred(pixels: Pixels, psf: str, sigma: float = 1.0) -> Pixels:
    """Blurred by a written PSF, mirrored at the edges, with a camera's noise."""
    kernel = read_psf(psf).kernel()[::-1, ::-1]
    values = cv2.filter2D(pixels.astype(np.float32), -1, kernel, borderType=cv2.BORDER_REFLECT)
    return noisy(np.rint(np.clip(values, 0, 255)).astype(np.uint8), sigma)


def scratched(pixels: Pixels, seed: int, tone: int) -> tuple[Pixels, NDArray[np.bool_]]:
    """Long scratches and dust of one tone, and where they are."""
    draw = np.random.default_rng(seed)
    height, width = pixels.shape[:2]
    mask = np.zeros((height, width), np.float32)
    for _ in range(5):
        rows = np.linspace(0, height, 12)
        columns = draw.uniform(0, width) + np.cumsum(draw.normal(0, 0.8, 12))
        points = np.rint(np.stack([columns, rows], axis=1) * 16).astype(np.int32)
        cv2.polylines(mask, [points], False, 1, 1, cv2.LINE_AA, 4)
    for _ in range(10):
        cv2.circle(mask, (int(draw.integers(width)), int(draw.integers(height))), 1, 1, -1, cv2.LINE_AA)
    values = pixels + 0.9 * mask[..., None] * (tone - pixels.astype(np.float32))
    return np.rint(np.clip(values, 0, 255)).astype(np.uint8), mask > 0.4


def psnr(one: Pixels, other: Pixels) -> float:
    """In dB; 100 for equal pictures."""
    error = float(np.mean(np.square(one.astype(np.float64) - other)))
    return 100.0 if not error else 10 * float(np.log10(255**2 / error))


def edited(name: str, image: Pixels | bytes, words: str = "", **options: Any) -> Edited:
    """One call."""
    data = image if isinstance(image, bytes) else encode_png(image)

    async def once() -> Edited:
        return await make_editor(name, **options).edit(EditRequest(data, "image/png", words))

    return asyncio.run(once())


def restored(name: str, image: Pixels, **options: Any) -> Pixels:
    """The answer's pixels."""
    return decode(edited(name, image, **options).image).pixels
