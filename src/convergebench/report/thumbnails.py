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
_QUALITY = [cv2.IMWRITE_WEBP_QUALITY, 84]


@dataclass(frozen=True, slots=True)
class Thumbnails:
    """Thumbnails of a run's images, kept in `out/thumbs`."""

    run: Path
    out: Path

    def make(self, images: Iterable[str | None], *, square: int | None = None) -> dict[str, str]:
        """Image → thumbnail, both relative; an image that cannot be read has no entry.

        With `square` the middle of the image is cut to that many pixels each way, for strips of one size.
        """
        wanted = list(dict.fromkeys(image for image in images if image))
        with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
            made = pool.map(lambda image: self._one(image, square), wanted)
            return {image: name for image, name in zip(wanted, made, strict=True) if name}

    def _one(self, image: str, square: int | None) -> str | None:
        key = blake2b(f"{image}:{square or LONG_SIDE}".encode(), digest_size=12).hexdigest()
        name = f"thumbs/{key[:2]}/{key[2:]}.webp"
        path = self.out / name
        if path.exists():
            return name
        data = shrink(self.run / image, square)
        if data is None:
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
        return name


def shrink(path: Path, square: int | None = None) -> bytes | None:
    """A WebP copy with long side 192 (or a square from the middle); None if the file is no image."""
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
    scale = min(1.0, (square or LONG_SIDE) / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = pixels if scale == 1.0 else cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return cv2.imencode(".webp", small, _QUALITY)[1].tobytes()
