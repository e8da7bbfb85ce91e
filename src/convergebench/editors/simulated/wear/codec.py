"""Saving and loading again."""

from __future__ import annotations

from convergebench.editors.simulated.options import Number
from convergebench.editors.simulated.pixels import Pixels, decode, encode_jpeg
from convergebench.editors.simulated.wear.base import Occasion, Wear, WearKind


def jpeg(*, quality: int) -> Wear:
    """JPEG at a quality of 1 … 100."""

    def wear(pixels: Pixels, occasion: Occasion) -> Pixels:
        return decode(encode_jpeg(pixels, quality))

    return wear


JPEG = WearKind({"quality": Number(75, 1, 100, whole=True)}, jpeg)
