"""How worn an added object looks compared with the rest of the picture.

A plain editor draws it and then wears everything once, so it is less worn than the rest. With `fresh` additions are
never worn; with `worn` they immediately get all the wear that the rest has received.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from convergebench.editors.simulated.layers import LayeredImage
from convergebench.editors.simulated.wear import Wear, WearContext

MARGIN = 8
"""Pixels around an object that are worn with it, so that a blur has surroundings to use."""


def kept_fresh(before: LayeredImage, worn: LayeredImage) -> LayeredImage:
    """The worn picture with every addition as it was before; a picture of another size is left as it is."""
    if before.pixels.shape != worn.pixels.shape:
        return worn
    pixels = worn.pixels.copy()
    for layer in before.layers:
        if layer.tag.startswith("add:"):
            shown = layer.mask > 0
            pixels[layer.window][shown] = before.pixels[layer.window][shown]
    return replace(worn, pixels=pixels)


def aged(picture: LayeredImage, wears: Sequence[tuple[Wear, bool]], *, steps: int, seed: int) -> LayeredImage:
    """The picture with its newest layer worn as often as the rest of it was; each wear with whether it is random."""
    if not picture.layers or not steps or not wears:
        return picture
    layer = picture.layers[-1]
    left, top, across, down = layer.box
    row, column = max(0, top - MARGIN), max(0, left - MARGIN)
    there = np.s_[row : top + down + MARGIN, column : left + across + MARGIN]
    part = picture.pixels[there].copy()
    # its outline softens too, except under random wear
    cover = np.repeat(picture.mask(layer)[there][..., None], 3, axis=2)
    for step in range(steps):
        for number, (wear, random) in enumerate(wears):
            context = WearContext(seed * 31 + number + 1009 * (step + 1), step)
            part = wear(part, context)
            cover = cover if random else wear(cover, context)
    pixels = picture.pixels.copy()
    weight = cover.astype(np.float32) / np.float32(255)
    pixels[there] = np.rint(pixels[there] + (part.astype(np.float32) - pixels[there]) * weight)
    return replace(picture, pixels=pixels)
