"""The network of `decay`, run with numpy: tiles of a picture in, the wear of each tile out.

    tile ─▶ five planes of detail ─▶ five convolutions ─▶ means and spreads of two layers ─▶ wear

It is small enough that a matrix product per layer does it, so that the metric needs no deep-learning library and says
the same wherever it runs. How it is taught: training/decay.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Prerequisite
from convergebench.images.frame import Pixels

Values = NDArray[np.float32]

NUMBERS = Path(__file__).with_name("_decay.npz")
TILE = 128
"""Pixels of a side of what the network sees at once."""
STRIDES = (1, 2, 2, 2, 1)
POOLED = (2, 4)
"""Layers whose means and spreads are taken."""

_TO_CODE = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]], np.float32)


@dataclass(frozen=True, slots=True)
class DecayNetwork:
    """Kernels as matrices (channels out × 9 · channels in), biases, and the two linear maps of the head."""

    kernels: tuple[Values, ...]
    biases: tuple[Values, ...]
    hidden: tuple[Values, Values]
    score: tuple[Values, Values]

    def statistics(self, tile: Pixels) -> Values:
        """Means and spreads of the pooled layers, for a tile of any size."""
        found, data = [], planes_of(tile)
        for place, (kernel, bias, stride) in enumerate(zip(self.kernels, self.biases, STRIDES, strict=True)):
            data = _convolved(data, kernel, bias, stride)
            if place in POOLED:
                flat = data.reshape(-1, data.shape[2])
                mean = flat.mean(axis=0)
                found += [mean, np.sqrt(np.square(flat - mean).mean(axis=0) + np.float32(1e-5))]
        return np.concatenate(found)

    def wear(self, tile: Pixels) -> tuple[float, Values]:
        """The wear of a tile, and what the last layer but one says of it."""
        weight, bias = self.hidden
        hidden = np.maximum(weight @ self.statistics(tile) + bias, 0)
        return float((self.score[0] @ hidden + self.score[1])[0]), hidden


def planes_of(tile: Pixels) -> Values:
    """Height × width × 5: fine and middle detail of brightness, detail of two colours, light.

    Detail is bent so that one grey level in a smooth wall counts beside the edge of a roof. Means are taken away:
    brightness and tint say nothing.
    """
    code: Values = np.asarray(cv2.transform(tile.astype(np.float32), _TO_CODE), np.float32)
    bright = np.ascontiguousarray(code[..., 0])
    soft, softer = _blurred(bright, 1.0), _blurred(bright, 3.0)
    colour = code[..., 1:] - _blurred(np.ascontiguousarray(code[..., 1:]), 2.0)
    planes = np.empty((*bright.shape, 5), np.float32)
    planes[..., 0] = np.arcsinh((bright - soft) / 2)
    planes[..., 1] = np.arcsinh((soft - softer) / 4)
    planes[..., 2:4] = np.arcsinh(colour / 2)
    planes[..., 4] = (bright - bright.mean()) / 64
    return planes


def _blurred(plane: Values, sigma: float) -> Values:
    side = 2 * int(np.ceil(3 * sigma)) + 1
    return np.asarray(cv2.GaussianBlur(plane, (side, side), sigma, borderType=cv2.BORDER_REFLECT_101), np.float32)


def _convolved(data: Values, kernel: Values, bias: Values, stride: int) -> Values:
    """A 3 × 3 convolution with zeros around, a bias, and negative values cut: one matrix product."""
    height, width, channels = data.shape
    padded = np.zeros((height + 2, width + 2, channels), np.float32)
    padded[1:-1, 1:-1] = data
    rows, columns = -(-height // stride), -(-width // stride)
    around = np.empty((rows, columns, 3, 3, channels), np.float32)
    for down in range(3):
        for across in range(3):
            around[:, :, down, across] = padded[down : down + height : stride, across : across + width : stride]
    found = around.reshape(rows * columns, 9 * channels) @ kernel.T
    found += bias
    np.maximum(found, 0, out=found)
    return found.reshape(rows, columns, -1)


def from_arrays(arrays: Mapping[str, Any]) -> DecayNetwork:
    """The network of named arrays, kernels as (out, in, 3, 3)."""
    count = len(STRIDES)
    kernels = (np.asarray(arrays[f"kernel-{place}"], np.float32) for place in range(count))
    return DecayNetwork(
        tuple(np.ascontiguousarray(one.transpose(0, 2, 3, 1).reshape(len(one), -1)) for one in kernels),
        tuple(np.asarray(arrays[f"bias-{place}"], np.float32) for place in range(count)),
        (np.asarray(arrays["hidden-weight"], np.float32), np.asarray(arrays["hidden-bias"], np.float32)),
        (np.asarray(arrays["score-weight"], np.float32), np.asarray(arrays["score-bias"], np.float32)),
    )


def tile_places(height: int, width: int, most: int) -> list[tuple[int, int]]:
    """Top-left corners of at most so many tiles, spread evenly over a picture; all that fit if they are few."""
    rows, columns = _starts(height), _starts(width)
    places = [(top, left) for top in rows for left in columns]
    if len(places) <= most:
        return places
    # the share of tiles that is kept is the same along both sides
    share = np.sqrt(most / len(places))
    kept_rows = _spread(rows, max(1, int(len(rows) * share)))
    kept_columns = _spread(columns, max(1, min(len(columns), most // len(kept_rows))))
    return [(top, left) for top in kept_rows for left in kept_columns]


def _starts(length: int) -> Sequence[int]:
    """Where tiles begin along a side, evenly, the first and the last at the edges."""
    if length <= TILE:
        return [0]
    count = max(2, round(length / TILE)) if length >= 1.5 * TILE else 2
    return [int(place) for place in np.linspace(0, length - TILE, count).round()]


def _spread(places: Sequence[int], count: int) -> list[int]:
    """So many of the places, evenly, away from the edges."""
    centres = (np.arange(count) + 0.5) * len(places) / count
    return [places[int(centre)] for centre in centres]


@cache
def shipped_arrays(checksum: str) -> dict[str, Any]:
    """The arrays of the package's file; `Prerequisite` if it is not the one of this version."""
    data = NUMBERS.read_bytes()
    if hashlib.sha256(data).hexdigest() != checksum:
        again = "pip install --force-reinstall convergebench"
        raise Prerequisite(f"{NUMBERS.name} is not the file of this version; install the package again: {again}")
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
