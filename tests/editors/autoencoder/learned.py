"""What the tests of editors that are networks share: pictures of every kind, and a driver."""

from __future__ import annotations

import asyncio
import importlib
import io
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from convergebench.editors.base import BaseEditor
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.registry import load
from convergebench.types import Edited, EditRequest
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import search

SIZES = [(1, 1), (1, 9), (9, 1), (2, 3), (37, 41), (64, 64), (120, 83)]
"""Height and width."""


def make(name: str, **options: Any) -> BaseEditor:
    """The editor; without its weights the test is skipped, and `make test` sees to it that they are here."""
    editor = _made(name, tuple(sorted(options.items())))
    if editor.lacks():
        pytest.skip("; ".join(editor.lacks()))
    return editor


@lru_cache(maxsize=3)
def _made(name: str, options: tuple[tuple[str, Any], ...]) -> BaseEditor:
    """One of each, for loading a network takes longer than most tests."""
    editor: BaseEditor = load("editors", name)(name, **dict(options))
    return editor


def edit(editor: BaseEditor, image: Pixels | bytes, words: str = "copy it") -> Edited:
    """One call."""
    return edit_all(editor, [image], words)[0]


def edit_all(editor: BaseEditor, images: list[Any], words: str = "copy it") -> list[Edited]:
    """Calls at the same time."""

    async def together() -> list[Edited]:
        return await asyncio.gather(*(editor.edit(request(image, words)) for image in images))

    return asyncio.run(together())


def request(image: Pixels | bytes, words: str = "copy it") -> EditRequest:
    """As the engine sends it."""
    return EditRequest(image if isinstance(image, bytes) else encode_png(image), "image/png", words)


def pixels_of(edited: Edited) -> Pixels:
    """What came back."""
    return decode(edited.image).pixels


def photograph(height: int, width: int, name: str = "astronaut") -> Pixels:
    """A real one, at that size."""
    data: Any = importlib.import_module("skimage.data")
    whole = getattr(data, name)()
    if whole.shape[:2] == (height, width):
        return np.asarray(whole, np.uint8)
    return np.asarray(cv2.resize(whole, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def as_file(pixels: Pixels, kind: str) -> bytes:
    """The picture as another kind of file: grey, with holes, or JPEG."""
    file = io.BytesIO()
    image = Image.fromarray(pixels)
    if kind == "grey":
        image.convert("L").save(file, "PNG")
    elif kind == "alpha":
        image.putalpha(
            Image.fromarray(np.tile(np.linspace(0, 255, pixels.shape[1]).astype(np.uint8), (len(pixels), 1)))
        )
        image.save(file, "PNG")
    else:
        image.save(file, "JPEG", quality=90)
    return file.getvalue()


def decay(
    editor: BaseEditor, picture: Pixels, at: tuple[int, ...], *, lpips: bool = False
) -> dict[int, tuple[float, ...]]:
    """PSNR, SSIM (and LPIPS) against the beginning after these steps of a chain."""
    structural = importlib.import_module("skimage.metrics")
    found: dict[int, tuple[float, ...]] = {}
    image = encode_png(picture)
    for step in range(1, max(at) + 1):
        image = edit(editor, image).image
        if step in at:
            seen = decode(image).pixels
            psnr = float(structural.peak_signal_noise_ratio(picture, seen))
            found[step] = (psnr, float(structural.structural_similarity(picture, seen, channel_axis=2)))
            if lpips:
                found[step] += (_lpips(picture, seen),)
    return found


def _lpips(reference: Pixels, subject: Pixels) -> float:
    if search(find_weight("lpips-alex")) is None:
        pytest.skip("the weights of lpips are not here")
    (reading,) = load_metric("lpips").measure([Item(Frame(subject), Frame(reference))])
    assert reading.value is not None
    return float(reading.value)
