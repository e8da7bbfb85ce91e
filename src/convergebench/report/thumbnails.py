"""Small copies of images, named after the image, so that a second report does not make them again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import cv2
import numpy as np

from convergebench.report.crops import CropPlace, native_crop
from convergebench.report.output import RenderedFile

LONG_SIDE = 192
HERO_SIDE = 360
_QUALITY, _FAITHFUL = 84, 97

ThumbnailKey = tuple[str, int | None, int | None]
"""An image, and the side of its square or of its crop."""


@dataclass(frozen=True, slots=True)
class Thumbnails:
    """Thumbnails of images; `view` returns the bytes of an image by its name.

    Those that exist under `kept` are not made again. New ones stay in memory until `take`; nothing is written.
    """

    view: Callable[[str], bytes | None]
    kept: Path
    _known: dict[ThumbnailKey, str | None] = field(default_factory=dict)
    _new: list[RenderedFile] = field(default_factory=list)

    def make(
        self, images: Iterable[str | None], *, square: int | None = None, crop: int | None = None
    ) -> dict[str, str]:
        """Image → thumbnail, both relative; an image that cannot be read has no entry.

        `square` is the side of a square from the middle of the image, for strips of one size. `crop` is the long side
        of an image in high quality, since a codec would smooth away the damage it shows.
        """
        asked = list(dict.fromkeys(image for image in images if image))
        fresh = [key for image in asked if (key := (image, square, crop)) not in self._known]
        with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
            for key, (name, data) in zip(fresh, pool.map(self._one, fresh), strict=True):
                self._known[key] = name
                if name and data is not None:
                    self._new.append((name, data))
        return {image: name for image in asked if (name := self._known[image, square, crop])}

    def native(self, images: Iterable[str], place: CropPlace) -> dict[str, str]:
        """Image → crop at 100 % around this place; an image that cannot be read or is too small has no entry."""
        found = {}
        for image in images:
            at = f"{image}:native {place.side} {place.x:.5f} {place.y:.5f}"
            name = _name(at)
            if not (self.kept / name).exists() and name not in (known for known, _ in self._new):
                data = native_crop(self.view(image), place)
                if data is None:
                    continue
                self._new.append((name, data))
            found[image] = name
        return found

    def take(self) -> list[RenderedFile]:
        """The thumbnails made since the last call, to be written beside the page."""
        taken = self._new[:]
        self._new.clear()
        return taken

    def read(self, image: str) -> bytes | None:
        """The plain thumbnail of an image: from the disk, or made again."""
        name = self._known.get((image, None, None))
        path = self.kept / name if name else None
        return path.read_bytes() if path and path.is_file() else shrink(self.view(image))

    def _one(self, key: ThumbnailKey) -> tuple[str | None, bytes | None]:
        """The thumbnail's name, None if the image cannot be read; and its bytes if it is new."""
        image, square, crop = key
        size = f"crop {crop}" if crop else str(square or LONG_SIDE)
        name = _name(f"{image}:{size}")
        if (self.kept / name).exists():
            return name, None
        data = shrink(self.view(image), square, crop)
        return (None if data is None else name), data


def _name(what: str) -> str:
    digest = blake2b(what.encode(), digest_size=12).hexdigest()
    return f"thumbs/{digest[:2]}/{digest[2:]}.webp"


def shrink(data: bytes | None, square: int | None = None, crop: int | None = None) -> bytes | None:
    """A small WebP copy (or a square from the middle, or a crop in high quality); None if the bytes are no image."""
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    if pixels is None:
        return None
    height, width = pixels.shape[:2]
    if square is not None:
        side = min(height, width)
        top, left = (height - side) // 2, (width - side) // 2
        pixels, height, width = pixels[top : top + side, left : left + side], side, side
    scale = min(1.0, (square or crop or LONG_SIDE) / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = pixels if scale == 1.0 else cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    quality = [cv2.IMWRITE_WEBP_QUALITY, _FAITHFUL if crop else _QUALITY]
    return cv2.imencode(".webp", small, quality)[1].tobytes()
