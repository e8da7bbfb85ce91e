"""Which tiles of a picture `decay` looks at, and what its network says of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Frame, Pixels
from convergebench.metrics.no_reference._decay_network import TILE, DecayNetwork, tile_places

MOST_TILES = 16
"""Tiles that are looked at in a picture: all of 512 × 512, a quarter of a megapixel."""
LARGEST = 1_500_000
"""Pixels beyond which a picture is reduced first: at its own scale a large photograph is soft everywhere."""
REDUCED = 1_048_576


class Wear(NamedTuple):
    """What the network says of a picture: wear before it is scaled, and its last layer but one, as means over tiles."""

    raw: float
    hidden: NDArray[np.float32]
    flat: float
    """Share of places that have exactly the colour of their neighbour: nearly all in drawings and screenshots."""


def at_scale(pixels: Pixels) -> Pixels:
    """The picture, reduced to a megapixel if it is larger than `LARGEST`."""
    height, width = pixels.shape[:2]
    if height * width <= LARGEST:
        return pixels
    scale = (REDUCED / (height * width)) ** 0.5
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def tiles_of(pixels: Pixels, most: int = MOST_TILES) -> Iterator[Pixels]:
    """The tiles that are looked at."""
    reduced = at_scale(pixels)
    for top, left in tile_places(reduced.shape[0], reduced.shape[1], most):
        yield np.ascontiguousarray(reduced[top : top + TILE, left : left + TILE])


def wear_of(frame: Frame, network: DecayNetwork) -> Wear:
    """What the network says of a picture; tiles of one colour say nothing and are left out."""
    tiles = list(tiles_of(frame.pixels))
    said = [network.wear(tile) for tile in tiles if (tile != tile[:1, :1]).any()]
    said = said or [network.wear(tile) for tile in tiles]
    flat = float(np.mean([(tile[:, 1:] == tile[:, :-1]).all(axis=2).mean() for tile in tiles]))
    return Wear(float(np.mean([raw for raw, _ in said])), np.mean([hidden for _, hidden in said], axis=0), flat)
