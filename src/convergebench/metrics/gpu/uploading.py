"""Images on the GPU: each is sent once, through pinned memory, and stays there as long as its `Frame`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from convergebench.images.frame import Frame

BUFFERS = 4
"""Of pinned memory: one is filled while others are on their way."""


class Stored(NamedTuple):
    """An image on the GPU, height × width × 3 in 8 or 16 bit, at an address inside `owner`."""

    address: int
    height: int
    width: int
    owner: Tensor


def stored(batch: Tensor) -> list[Stored]:
    """The images of a batch; none of them becomes a tensor of its own, which takes longer than to measure it."""
    count, height, width, channels = batch.shape
    first, size = batch.data_ptr(), height * width * channels * batch.element_size()
    return [Stored(first + place * size, height, width, batch) for place in range(count)]


def uploaded(frames: Sequence[Frame], device: str) -> list[Stored]:
    """The pixels of each frame on the device. All must have one size."""
    slots = [frame.derived(("uploaded", device), _empty) for frame in frames]
    missing = {id(slot): (frame, slot) for frame, slot in zip(frames, slots, strict=True) if not slot}
    if missing:
        sent = _sent([frame for frame, _ in missing.values()], device)
        for (_, slot), there in zip(missing.values(), stored(sent), strict=True):
            slot.append(there)
    return [slot[0] for slot in slots]


def _empty(_: Frame) -> list[Stored]:
    return []


def addresses(images: Sequence[Stored | Tensor], device: str) -> Tensor:
    """The addresses of images as a tensor on the device; the images must outlive the kernels that use it."""
    numbers = [one.address if isinstance(one, Stored) else one.data_ptr() for one in images]
    return torch.from_numpy(np.array(numbers, np.int64)).to(device)


def _sent(frames: Sequence[Frame], device: str) -> Tensor:
    batch = torch.empty((len(frames), *frames[0].pixels.shape), dtype=torch.uint8, device=device)
    staging = _staging(device, frames[0].pixels.size)
    for place, frame in enumerate(frames):
        pixels = frame.pixels if frame.pixels.flags.writeable else frame.pixels.copy()  # torch warns of read-only ones
        staging.send(torch.from_numpy(np.ascontiguousarray(pixels)), batch[place])
    return batch


class _Staging:
    """Pinned buffers, used in turn. Allocating them takes far longer than filling them, so they are kept."""

    def __init__(self, size: int) -> None:
        self._buffers = [torch.empty(size, dtype=torch.uint8, pin_memory=True) for _ in range(BUFFERS)]
        self._free: list[Any] = [torch.cuda.Event() for _ in range(BUFFERS)]  # type: ignore[no-untyped-call]
        self._turn = 0

    def send(self, pixels: Tensor, into: Tensor) -> None:
        buffer, free = self._buffers[self._turn], self._free[self._turn]
        self._turn = (self._turn + 1) % BUFFERS
        free.synchronize()
        buffer.copy_(pixels.view(-1))
        into.view(-1).copy_(buffer, non_blocking=True)
        free.record()


@cache
def _staging(device: str, size: int) -> _Staging:
    return _Staging(size)
