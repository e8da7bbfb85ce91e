"""Runs a network on a picture: pads sides to multiples of 64, optionally tiles it, and rounds to 8 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from convergebench.images.frame import Pixels

if TYPE_CHECKING:
    import torch

    from convergebench.tfjs.program import Program

FACTOR = 64
"""Sides are multiples of this."""

Padding = Literal["reflect", "zeros"]
Rounding = Literal["nearest", "down"]


class Margins(NamedTuple):
    """Padding on each side, in pixels."""

    above: int
    below: int
    left: int
    right: int


def margins(height: int, width: int, padding: Padding) -> Margins:
    """Mirrored padding is split between both sides, as by MAXIM's authors; black padding goes below and right."""
    rows, columns = -height % FACTOR, -width % FACTOR
    above, left = (rows // 2, columns // 2) if padding == "reflect" else (0, 0)
    return Margins(above, rows - above, left, columns - left)


def restored(
    program: Program, pixels: Pixels, added: Margins, *, padding: Padding, tile: int, rounding: Rounding
) -> Pixels:
    """The network's output for a picture, cropped to its size."""
    import torch

    sides = ((added.above, added.below), (added.left, added.right), (0, 0))
    whole = np.pad(pixels, sides, mode="reflect" if padding == "reflect" else "constant")
    given = torch.from_numpy(whole)[None].float() / 255
    answer = torch.empty_like(given)
    for rows, columns in tiles(whole.shape[0], whole.shape[1], tile):
        answer[:, rows, columns] = program(given[:, rows, columns].contiguous()).cpu()
    height, width = pixels.shape[:2]
    inside = answer[0, added.above : added.above + height, added.left : added.left + width]
    return _eight_bits(inside, rounding)


def tiles(height: int, width: int, tile: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of each tile; 0 means the whole picture at once."""
    for top in range(0, height, tile or height):
        for left in range(0, width, tile or width):
            yield slice(top, min(height, top + (tile or height))), slice(left, min(width, left + (tile or width)))


def _eight_bits(values: torch.Tensor, rounding: Rounding) -> Pixels:
    import torch

    levels = values.clamp(0, 1) * 255
    levels = levels.round() if rounding == "nearest" else levels.floor()
    return levels.to(torch.uint8).contiguous().numpy()
