"""How worn a new thing looks beside the picture it is put into.

A plain editor draws it anew and wears everything a little, so it is less worn than the rest. One that keeps additions
fresh never wears them; one that draws them `worn` gives them at once all the wear that the rest has behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from convergebench.editors.simulated.layers import Layered
from convergebench.editors.simulated.wear import Occasion, Wear

MARGIN = 8
"""Pixels around a thing that are worn with it, so that a blur has something to take in."""


def kept_fresh(before: Layered, worn: Layered) -> Layered:
    """The worn picture with every addition as it was before; a picture of another size is left as it is."""
    if before.pixels.shape != worn.pixels.shape:
        return worn
    pixels = worn.pixels.copy()
    for layer in before.layers:
        if layer.tag.startswith("add:"):
            shown = layer.mask > 0
            pixels[layer.window][shown] = before.pixels[layer.window][shown]
    return replace(worn, pixels=pixels)


def aged(picture: Layered, wears: Sequence[tuple[Wear, bool]], *, steps: int, seed: int) -> Layered:
    """The picture with its newest layer worn as often as the rest of it was; each wear with whether it is random."""
    if not picture.layers or not steps or not wears:
        return picture
    layer = picture.layers[-1]
    left, top, across, down = layer.box
    row, column = max(0, top - MARGIN), max(0, left - MARGIN)
    there = np.s_[row : top + down + MARGIN, column : left + across + MARGIN]
    part = picture.pixels[there].copy()
    # its outline softens with it, which static does not do to an outline
    cover = np.repeat(picture.mask(layer)[there][..., None], 3, axis=2)
    for step in range(steps):
        for number, (wear, random) in enumerate(wears):
            occasion = Occasion(seed * 31 + number + 1009 * (step + 1), step)
            part = wear(part, occasion)
            cover = cover if random else wear(cover, occasion)
    pixels = picture.pixels.copy()
    weight = cover.astype(np.float32) / np.float32(255)
    pixels[there] = np.rint(pixels[there] + (part.astype(np.float32) - pixels[there]) * weight)
    return replace(picture, pixels=pixels)
