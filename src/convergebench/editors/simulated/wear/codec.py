"""Wear by lossy compression."""

from __future__ import annotations

from convergebench.editors.simulated.options import NumberOption
from convergebench.editors.simulated.pixels import Pixels, decode, encode_jpeg
from convergebench.editors.simulated.wear.base import Wear, WearContext, WearKind


def jpeg(*, quality: int) -> Wear:
    """JPEG at a quality of 1 … 100."""

    def wear(pixels: Pixels, context: WearContext) -> Pixels:
        return decode(encode_jpeg(pixels, quality))

    return wear


JPEG = WearKind({"quality": NumberOption(75, 1, 100, whole=True)}, jpeg)
