"""An ncnn network applied to a picture of any size, in tiles to limit memory.

    picture ─▶ tiles with a margin of the picture around them ─▶ network ─▶ margins off ─▶ picture × scale

ncnn gives equal numbers for any number of threads, and several threads may share one network. A margin as wide as the
network's receptive field avoids seams. waifu2x also uses each tile's mean, and RealESRGAN's receptive field exceeds any
useful margin, so the tile size is part of an editor's fingerprint.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Prerequisite

Values = NDArray[np.float32]
"""Height × width × 3, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class NcnnLayout:
    """How a network's files are used."""

    entry: str
    """Name of the input blob in ncnn."""
    exit: str
    scale: int = 1
    margin: int = 0
    """Pixels around a tile that the network sees but that are cut from its output."""
    crops_margin: bool = False
    """The network removes the margin itself, so the picture's edges need one too (by reflection)."""
    multiple: int = 1
    """Sides of the input, without the margin, are multiples of this."""


class NcnnNetwork:
    """Loaded files, ready to be called from any thread."""

    def __init__(self, param: Path, weights: Path, shape: NcnnLayout, *, threads: int) -> None:
        ncnn = _ncnn()
        self.shape = shape
        self._net = ncnn.Net()
        options = self._net.opt
        options.use_vulkan_compute = False
        options.num_threads = threads
        # some CPUs would otherwise compute in 16 bits, with other results
        options.use_fp16_packed = options.use_fp16_storage = options.use_fp16_arithmetic = False
        options.use_bf16_storage = False
        if self._net.load_param(str(param)) or self._net.load_model(str(weights)):
            raise Prerequisite(f"{param.parent} is not a network that ncnn can read; fetch it again")

    def __call__(self, values: Values, *, tile: int) -> Values:
        """The whole picture, `scale` times as large."""
        scale, (height, width) = self.shape.scale, values.shape[:2]
        whole = np.empty((height * scale, width * scale, 3), np.float32)
        for rows in _spans(height, tile):
            for columns in _spans(width, tile):
                piece = self._tile(values, rows, columns)
                whole[rows.start * scale : rows.stop * scale, columns.start * scale : columns.stop * scale] = piece
        return whole

    def _tile(self, values: Values, rows: slice, columns: slice) -> Values:
        shape = self.shape
        tile_spans = [(side.start, side.stop) for side in (rows, columns)]
        # the input span; beyond the picture's edges only if the network crops its margin
        looked, padding, cut = [], [], []
        for (start, stop), length in zip(tile_spans, values.shape[:2], strict=True):
            fill = -(stop - start) % shape.multiple
            low, high = start - shape.margin, stop + shape.margin + fill
            inside = (max(0, low), min(length, high))
            looked.append(slice(*inside))
            padding.append((inside[0] - low, high - inside[1]) if shape.crops_margin else (0, 0))
            cut.append((0 if shape.crops_margin else start - inside[0], stop - start))
        piece = np.pad(values[looked[0], looked[1]], (*padding, (0, 0)), mode="reflect")
        answer = self._run(piece)
        (top, height), (left, width) = ((first * shape.scale, size * shape.scale) for first, size in cut)
        return answer[top : top + height, left : left + width]

    def _run(self, piece: Values) -> Values:
        ncnn = _ncnn()
        planes = np.ascontiguousarray(piece.transpose(2, 0, 1), dtype=np.float32)
        # both must stay alive until the output is read: ncnn uses the array's memory without owning it
        given = ncnn.Mat(planes)
        extractor: Any = self._net.create_extractor()
        extractor.input(self.shape.entry, given)
        failed, answer = extractor.extract(self.shape.exit)
        if failed:
            raise MemoryError(f"ncnn failed on {piece.shape[1]} × {piece.shape[0]} pixels")
        values = np.array(answer).transpose(1, 2, 0)
        del extractor, given, planes
        return values


def _ncnn() -> Any:
    """The library, told once that threads which wait for others sleep.

    They would otherwise keep a core busy; where another program wants it, a call takes a hundred times longer.
    """
    policy = "OMP_WAIT_POLICY"
    if policy in os.environ:
        return import_module("ncnn")
    os.environ[policy] = "PASSIVE"
    try:
        return import_module("ncnn")
    finally:
        os.environ.pop(policy, None)


def _spans(length: int, tile: int) -> Iterator[slice]:
    """Nearly equal parts of a side, none longer than `tile`."""
    count = -(-length // tile)
    edges = [length * number // count for number in range(count + 1)]
    yield from (slice(*pair) for pair in pairwise(edges))
