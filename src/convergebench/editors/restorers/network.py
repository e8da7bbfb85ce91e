"""A network that ncnn runs, over a picture of any size: in tiles, so that memory stays bounded.

    picture ─▶ tiles with a margin of the picture around them ─▶ network ─▶ margins off ─▶ picture × scale

ncnn gives equal numbers for any number of threads, and one network may be used by several threads at once. A margin
that reaches as far as the network looks makes the seams vanish. waifu2x also looks at each tile's mean, and RealESRGAN
looks farther than any useful margin, so the size of tiles is part of what an editor is.
"""

from __future__ import annotations

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
class Shape:
    """How a network's files are used."""

    entry: str
    """What ncnn calls the place where pixels go in."""
    exit: str
    scale: int = 1
    margin: int = 0
    """Pixels of the picture around a tile that are looked at and not answered."""
    eats_margin: bool = False
    """The network itself cuts the margin off, so the picture's own edges need one too (by reflection)."""
    multiple: int = 1
    """Sides of what goes in, without the margin, are a multiple of this."""


class Network:
    """Loaded files, ready to be called from any thread."""

    def __init__(self, param: Path, weights: Path, shape: Shape, *, threads: int) -> None:
        ncnn: Any = import_module("ncnn")
        self.shape = shape
        self._net = ncnn.Net()
        options = self._net.opt
        options.use_vulkan_compute = False
        options.num_threads = threads
        # some processors would otherwise work in 16 bits and answer something else
        options.use_fp16_packed = options.use_fp16_storage = options.use_fp16_arithmetic = False
        options.use_bf16_storage = False
        if self._net.load_param(str(param)) or self._net.load_model(str(weights)):
            raise Prerequisite(f"{param.parent} does not hold a network that ncnn can read; fetch it again")

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
        wanted = [(side.start, side.stop) for side in (rows, columns)]
        # from where to where is looked; beyond the picture's edges only if the network eats its margin
        looked, padding, cut = [], [], []
        for (start, stop), length in zip(wanted, values.shape[:2], strict=True):
            fill = -(stop - start) % shape.multiple
            low, high = start - shape.margin, stop + shape.margin + fill
            inside = (max(0, low), min(length, high))
            looked.append(slice(*inside))
            padding.append((inside[0] - low, high - inside[1]) if shape.eats_margin else (0, 0))
            cut.append((0 if shape.eats_margin else start - inside[0], stop - start))
        piece = np.pad(values[looked[0], looked[1]], (*padding, (0, 0)), mode="reflect")
        answer = self._run(piece)
        (top, height), (left, width) = ((first * shape.scale, size * shape.scale) for first, size in cut)
        return answer[top : top + height, left : left + width]

    def _run(self, piece: Values) -> Values:
        ncnn: Any = import_module("ncnn")
        planes = np.ascontiguousarray(piece.transpose(2, 0, 1), dtype=np.float32)
        # both must live until the answer is out: ncnn reads the memory of the array, and does not hold it
        given = ncnn.Mat(planes)
        extractor: Any = self._net.create_extractor()
        extractor.input(self.shape.entry, given)
        failed, answer = extractor.extract(self.shape.exit)
        if failed:
            raise MemoryError(f"ncnn could not work on {piece.shape[1]} × {piece.shape[0]} pixels")
        values = np.array(answer).transpose(1, 2, 0)
        del extractor, given, planes
        return values


def _spans(length: int, tile: int) -> Iterator[slice]:
    """Nearly equal parts of a side, none longer than `tile`."""
    count = -(-length // tile)
    edges = [length * number // count for number in range(count + 1)]
    yield from (slice(*pair) for pair in pairwise(edges))
