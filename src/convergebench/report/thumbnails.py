"""Small copies of images, made once: named by the image they show, so a second report makes none."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import cv2
import numpy as np

from convergebench.report.files import write_whole

LONG_SIDE = 192
HERO_SIDE = 360
_QUALITY, _FAITHFUL = 84, 97


@dataclass(frozen=True, slots=True)
class Thumbnails:
    """Thumbnails of a run's images, kept in `out/thumbs`."""

    run: Path
    out: Path

    def make(
        self, images: Iterable[str | None], *, square: int | None = None, crop: int | None = None
    ) -> dict[str, str]:
        """Image → thumbnail, both relative; an image that cannot be read has no entry.

        With `square` the middle of the image is cut to that many pixels each way, for strips of one size. A `crop` has
        that long side and keeps its grain: it is there to show damage, and a codec would smooth it away.
        """
        wanted = list(dict.fromkeys(image for image in images if image))
        with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
            made = pool.map(lambda image: self._one(image, square, crop), wanted)
            return {image: name for image, name in zip(wanted, made, strict=True) if name}

    def _one(self, image: str, square: int | None, crop: int | None) -> str | None:
        size = f"crop {crop}" if crop else str(square or LONG_SIDE)
        key = blake2b(f"{image}:{size}".encode(), digest_size=12).hexdigest()
        name = f"thumbs/{key[:2]}/{key[2:]}.webp"
        path = self.out / name
        if path.exists():
            return name
        data = shrink(self.run / image, square, crop)
        if data is None:
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
        return name


def shrink(path: Path, square: int | None = None, crop: int | None = None) -> bytes | None:
    """A WebP copy with long side 192 (a square from the middle, a faithful crop); None if the file is no image."""
    if not path.is_file():
        return None
    pixels = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR) if path.stat().st_size else None
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
