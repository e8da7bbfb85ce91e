"""Pictures as raters get them: the same pixels, and nothing that tells where they come from.

Every picture is written anew as PNG. A file as a model returned it may name the model, and a JPEG among PNGs would be
known again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.store.images import ImageReader

KEPT_BYTES = 256 * 2**20
"""Bytes of written pictures that are kept for the next rater."""


class Pictures:
    """The pictures of a run by image id. Safe to call from any thread."""

    def __init__(self, images: ImageReader, files: Mapping[str, str]) -> None:
        self._images, self._files = images, files
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def png(self, image: str) -> bytes:
        """A picture; `StudyError` if it is damaged, KeyError if the run has none of this id."""
        with self._lock:
            if image in self._kept:
                self._kept.move_to_end(image)
                return self._kept[image]
        file = self._files[image]
        data = encode_png(decode(self._images.read(file, image), what=file, alpha="white").pixels, compression=4)
        with self._lock:
            if image not in self._kept:
                self._kept[image] = data
                self._bytes += len(data)
            while self._bytes > KEPT_BYTES and len(self._kept) > 1:
                self._bytes -= len(self._kept.popitem(last=False)[1])
        return data
