"""Stored images, their pixels, and small copies: kept in memory up to a bound, and never written."""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import closing
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import cv2

from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.frame import Frame, Pixels
from convergebench.serve.guard import Refusal
from convergebench.store.images import DamagedImage, read_image
from convergebench.store.queries.viewing import ViewingReader
from convergebench.store.tables import ImageRow

SIZES = (96, 192, 384)
"""Longest sides of thumbnails."""
MOST_PIXELS = 100_000_000
KEPT_THUMBNAILS, KEPT_PIXELS, KEPT_ROWS = 48 * 2**20, 192 * 2**20, 4 * 2**20
"""Bytes that are kept of each."""
_QUALITY = 84
_DIGEST = re.compile(r"[0-9a-f]{64}")

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Bounded(Generic[Key, Value]):
    """A cache that forgets what was not used longest. Safe to call from any thread."""

    def __init__(self, most: int, size: Callable[[Value], int]) -> None:
        self._most, self._size = most, size
        self._kept: OrderedDict[Key, Value] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value; made if it is not there. Two threads may make it at the same time."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        value = make()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = value
                self._bytes += self._size(value)
            while self._bytes > self._most and self._kept:
                self._bytes -= self._size(self._kept.popitem(last=False)[1])
        return value

    def kept(self, key: Key) -> Value | None:
        """The value if it is there."""
        with self._lock:
            return self._kept.get(key)

    @property
    def bytes(self) -> int:
        """What is kept now."""
        return self._bytes


class StoredImage(NamedTuple):
    """An image file of a run."""

    data: bytes
    mime: str


class RunImages:
    """The images of all served runs. Safe to call from any thread."""

    def __init__(self) -> None:
        self._rows: Bounded[tuple[Path, str], ImageRow] = Bounded(KEPT_ROWS, lambda row: 400)
        self._thumbnails: Bounded[tuple[Path, str, int], bytes] = Bounded(KEPT_THUMBNAILS, len)
        self._pixels: Bounded[tuple[Path, str], Pixels] = Bounded(KEPT_PIXELS, lambda pixels: int(pixels.nbytes))

    def row(self, root: Path, digest: str) -> ImageRow:
        """What the run says of an image; `Refusal` if it has none of this name."""
        if not _DIGEST.fullmatch(digest):
            raise Refusal(404, "There is no such image in this run.")
        return self._rows.get((root, digest), lambda: _row(root, digest))

    def stored(self, root: Path, digest: str) -> StoredImage:
        """The bytes as the editor returned them."""
        row = self.row(root, digest)
        if not os.path.realpath(root / row.file).startswith(os.path.realpath(root) + os.sep):
            raise Refusal(403, "This image is a link that leads out of the run.")
        try:
            return StoredImage(read_image(root, row.file, row.id), row.mime)
        except DamagedImage as error:
            raise Refusal(410, f"This image {error.what}.") from error
        except StudyError as error:  # the run's store does not answer
            raise Refusal(503, f"This image is not on this computer: {error}") from error

    def frame(self, root: Path, digest: str) -> Frame:
        """The pixels as metrics see them; transparent ones on white."""
        row = self.row(root, digest)
        return Frame(self._pixels.get((root, digest), lambda: self._decoded(root, row, digest)))

    def _decoded(self, root: Path, row: ImageRow, digest: str) -> Pixels:
        try:
            data = self.stored(root, digest).data
            return decode(data, what=row.file, alpha="white", max_pixels=MOST_PIXELS).pixels
        except StudyError as error:
            raise Refusal(410, f"This image cannot be shown: {error}") from error

    def thumbnail(self, root: Path, digest: str, size: int) -> bytes:
        """A small copy as WebP."""
        if size not in SIZES:
            raise Refusal(400, f"size is one of {', '.join(map(str, SIZES))}.")
        row = self.row(root, digest)
        return self._thumbnails.get((root, digest, size), lambda: _small(self._decoded(root, row, digest), size))


def encode_webp(pixels: Pixels, quality: int = _QUALITY) -> bytes:
    """RGB pixels as WebP; a quality above 100 is lossless."""
    done, data = cv2.imencode(".webp", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_WEBP_QUALITY, quality])
    if not done:
        raise Refusal(500, "This image cannot be written as WebP.")
    return data.tobytes()


def _small(pixels: Pixels, size: int) -> bytes:
    height, width = pixels.shape[:2]
    scale = min(1.0, size / max(height, width))
    shape = (max(1, round(width * scale)), max(1, round(height * scale)))
    return encode_webp(pixels if scale == 1.0 else cv2.resize(pixels, shape, interpolation=cv2.INTER_AREA))  # type: ignore[arg-type]


def _row(root: Path, digest: str) -> ImageRow:
    with closing(ViewingReader(root, checked=False)) as reader:  # `stored` checks the name
        found = reader.image_row(digest)
    if found is None:
        raise Refusal(404, "There is no such image in this run.")
    return found
