"""Pictures with known damage, made the same way by tests and by the script that wrote the golden values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import cv2
import numpy as np
from skimage import data

from convergebench.images.frame import Frame, Pixels
from convergebench.metrics import load_metric
from convergebench.metrics.base import BatchMetric, FunctionMetric, Item


@cache
def photograph(name: str, width: int = 320, height: int = 256) -> Pixels:
    """The upper left of a photograph that comes with scikit-image."""
    pixels: Pixels = np.ascontiguousarray(getattr(data, name)()[:height, :width, :3])
    pixels.setflags(write=False)
    return pixels


def jpeg(pixels: Pixels, quality: int) -> Pixels:
    _, packed = cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return decoded(packed.tobytes())


def decoded(data: bytes) -> Pixels:
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    return np.ascontiguousarray(picture[..., ::-1], dtype=np.uint8)


def resized(pixels: Pixels, width: int, height: int) -> Pixels:
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def coarse(pixels: Pixels, step: int) -> Pixels:
    """Fewer levels: whole numbers only, so the same on every machine."""
    return np.minimum(pixels // step * step + step // 2, 255).astype(np.uint8)


def box_blur(pixels: Pixels, side: int) -> Pixels:
    """Mean over side × side pixels, rounded down, in whole numbers."""
    padded = np.pad(pixels.astype(np.int64), ((side // 2, side // 2), (side // 2, side // 2), (0, 0)), mode="edge")
    sums = padded.cumsum(0).cumsum(1)
    sums = np.pad(sums, ((1, 0), (1, 0), (0, 0)))
    total = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
    return np.asarray(total // side**2, np.uint8)


def noisy(pixels: Pixels, sigma: float, seed: int = 0) -> Pixels:
    grain = np.random.default_rng(seed).normal(0, sigma, pixels.shape)
    return np.asarray(np.clip(np.rint(pixels + grain), 0, 255), np.uint8)


def tinted(pixels: Pixels, red: int, green: int, blue: int) -> Pixels:
    shift = np.array([red, green, blue])
    return np.asarray(np.clip(pixels.astype(np.int64) + shift, 0, 255), np.uint8)


def with_disc(pixels: Pixels) -> Pixels:
    """A red ball where there was none."""
    height, width = pixels.shape[:2]
    out = pixels.copy()
    cv2.circle(out, (width // 3, height * 3 // 5), height // 8, (200, 30, 30), -1, cv2.LINE_AA)
    return out


def hashed(pixels: Pixels, strength: int) -> Pixels:
    """Whole-number noise from a hash of the position, the same on every machine."""
    height, width, channels = pixels.shape
    place = np.arange(height * width * channels, dtype=np.uint64).reshape(pixels.shape)
    mixed = (place * np.uint64(2654435761) % np.uint64(4294967296)) >> np.uint64(16)
    grain = (mixed % np.uint64(2 * strength + 1)).astype(np.int64) - strength
    return np.asarray(np.clip(pixels.astype(np.int64) + grain, 0, 255), np.uint8)


GOLDEN: Mapping[str, tuple[str, tuple[int, int], Callable[[Pixels], Pixels]]] = {
    "astronaut-coarse": ("astronaut", (320, 256), lambda pixels: coarse(pixels, 24)),
    "astronaut-blur": ("astronaut", (320, 256), lambda pixels: box_blur(pixels, 5)),
    "coffee-grain": ("coffee", (300, 200), lambda pixels: hashed(pixels, 40)),
    "chelsea-tint": ("chelsea", (257, 201), lambda pixels: tinted(pixels, 20, -15, 5)),
    "tissue-mirror": ("immunohistochemistry", (321, 250), lambda pixels: np.ascontiguousarray(pixels[:, ::-1])),
}
"""Case → photograph, size, damage; all in whole numbers, so that every machine makes the same bytes."""


def golden_pair(case: str) -> tuple[Pixels, Pixels]:
    """(subject, reference)."""
    name, (width, height), damage = GOLDEN[case]
    reference = photograph(name, width, height)
    return damage(reference), reference


def measured(name: str, subject: Pixels, reference: Pixels | None, **rest: object) -> float:
    """The value of a metric for two arrays."""
    metric = load_metric(name)
    assert isinstance(metric, FunctionMetric | BatchMetric)
    return metric(Item(Frame(subject), None if reference is None else Frame(reference), **rest))  # type: ignore[arg-type]
