"""The pictures of a suite as squares: the short side is scaled to the size (Lanczos), then the square is cut out.

It is cut out around the middle or the picture's `focus`. Nothing is enlarged.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from convergebench.images.suite import MissingImage, Suite
from convergebench.types import SourceImage


def squares(suite: Suite, side: int, name: str, *, keep: bool = False) -> Suite:
    """The suite's pictures as squares of `side` pixels; those with a shorter side are left out.

    With `keep`, the file of a picture that is such a square already is used as it is.
    """
    lost = {one.id: one.reason for one in suite.missing}
    fitting = [image for image in suite.listed if min(image.width, image.height) >= side]
    title = f"{name} {suite.version}" if suite.version > 1 else ""
    here = [image for image in fitting if image.id not in lost]
    with ThreadPoolExecutor() as pool:
        images = tuple(pool.map(lambda image: _square(image, side, title, keep=keep), here))
    missing = (
        MissingImage(replace(image, width=side, height=side), place, lost[image.id])
        for place, image in enumerate(fitting)
        if image.id in lost
    )
    return Suite(name, images, suite.version, tuple(missing))


def _square(image: SourceImage, side: int, suite: str, *, keep: bool) -> SourceImage:
    if keep and (image.width, image.height) == (side, side):
        return replace(image, suite=suite)
    read = partial(_read_square, image, side)
    return replace(
        image,
        sha256=hashlib.sha256(read()).hexdigest(),
        width=side,
        height=side,
        suite=suite,
        source=f"{image.source}; scaled and cut to a square of {side} pixels",
        read=read,
        focus=(0.5, 0.5),
    )


def _read_square(image: SourceImage, side: int) -> bytes:
    from convergebench.images.sized import square

    return square(image.read(), side, image.focus, what=f"image '{image.id}'")
