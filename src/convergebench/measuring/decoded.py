"""The decoded images of a measuring process: the source and the latest ones; with a GPU, the next ones too."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from convergebench.images.decode import decode
from convergebench.images.frame import Frame, Pixels
from convergebench.measuring.decode_ahead import DecodeAhead
from convergebench.measuring.task import MeasuringTask

KEPT_FRAMES = 3
"""Decoded images a worker keeps with their derived planes, beside the source: the subject, its parent, one more."""
KEPT_PIXELS = 10
"""Decoded images kept as bare pixels, for comparisons with earlier rounds."""


class DecodedImages:
    """A cache of the source and the latest decoded images of this worker."""

    def __init__(self) -> None:
        self._ahead: Callable[[str], Pixels] | None = None
        self._source: Frame | None = None
        self._frames: OrderedDict[str, Frame] = OrderedDict()
        self._pixels: OrderedDict[str, Pixels] = OrderedDict()

    def frame(self, task: MeasuringTask, identity: str) -> Frame:
        """An image of the task; the source keeps what was derived from it as long as tasks are about it."""
        if self._source is not None and self._source.id == identity:
            return self._source
        if identity == task.source:
            self._source = Frame(self._decoded(task, identity), identity)
            return self._source
        if identity not in self._frames:
            self._frames[identity] = Frame(self._decoded(task, identity), identity)
        self._frames.move_to_end(identity)
        while len(self._frames) > KEPT_FRAMES:
            self._frames.popitem(last=False)
        return self._frames[identity]

    def clear(self) -> None:
        """Forget every image."""
        self._source = None
        self._frames.clear()
        self._pixels.clear()

    @contextmanager
    def ahead_of(self, task: MeasuringTask) -> Iterator[None]:
        """With a GPU, threads decode the next images while it works: one thread could not keep it busy."""
        if task.place.device == "cpu":
            yield
            return
        order = [image for one in task.comparisons for image in (one.reference, one.subject, one.via) if image]
        with DecodeAhead(order, partial(_read_pixels, task), threads=max(1, (os.cpu_count() or 1) // 2)) as ahead:
            self._ahead = ahead.get
            try:
                yield
            finally:
                self._ahead = None

    def _decoded(self, task: MeasuringTask, identity: str) -> Pixels:
        if identity not in self._pixels:
            self._pixels[identity] = self._ahead(identity) if self._ahead else _read_pixels(task, identity)
        self._pixels.move_to_end(identity)
        while len(self._pixels) > KEPT_PIXELS:
            self._pixels.popitem(last=False)
        return self._pixels[identity]


def _read_pixels(task: MeasuringTask, identity: str) -> Pixels:
    file = task.files[identity]
    data = task.images.read(file, identity)  # checked: the bytes must be those of this id
    return decode(data, what=file, alpha="refuse" if task.outside_run else "white").pixels
