"""Short chains with a failure planted from a known step on, for the rules about noise, colour and texture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.failures.base import ChainView, Compared, Examination, StepView
from convergebench.images.frame import Frame, Pixels
from convergebench.types import Operation
from tests.metrics.pictures import jpeg, photograph, resized

STEPS, FROM = 5, 3
"""Steps of a chain, and the one that first shows what was planted."""

Change = Callable[[Pixels, int], Pixels]
"""A picture and the step's number → what the step shows."""


def astronaut() -> Pixels:
    """A photograph with flat places, texture, outlines and colours, 256 pixels a side."""
    return resized(photograph("astronaut", 512, 512), 256, 256)


def coffee() -> Pixels:
    """Another one, 300 × 200 pixels."""
    return resized(photograph("coffee", 600, 400), 300, 200)


def chain(
    frames: Sequence[Pixels],
    *,
    compared: Compared = "whole",
    orientation: Callable[[int], Operation | None] = lambda step: None,
) -> ChainView:
    """Pictures in order, the source first."""
    steps = [
        StepView(index, partial(Frame, np.ascontiguousarray(pixels)), compared=compared, orientation=orientation(index))
        for index, pixels in enumerate(frames)
    ]
    return ChainView("editor", "case", "source", "replicate", "replication", steps)


def planted(change: Change, source: Pixels | None = None, *, steps: int = STEPS, first: int = FROM) -> ChainView:
    """Re-encoded until step `first`, changed from then on."""
    source = astronaut() if source is None else source
    frames = [source]
    for step in range(1, steps + 1):
        kept = jpeg(source, 96)
        frames.append(change(kept, step) if step >= first else kept)
    return chain(frames)


def whole(values: NDArray[Any]) -> Pixels:
    """Rounded to levels."""
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


def static(pixels: Pixels, step: int) -> Pixels:
    return whole(pixels + np.random.default_rng(step).normal(0, 6, pixels.shape))


def specks(pixels: Pixels, step: int) -> Pixels:
    """Eighty dots of two by two pixels, most of them far from the level they lie on."""
    out = pixels.copy()
    chance = np.random.default_rng(step)
    for row, column in chance.integers(4, 250, (80, 2)):
        if row < pixels.shape[0] - 4 and column < pixels.shape[1] - 4:
            dark = out[row, column].mean() > 128
            out[row : row + 2, column : column + 2] = 20 if dark else 230
    return out


def ripples(pixels: Pixels, step: int) -> Pixels:
    """Waves of six pixels beside every outline, parallel to it."""
    outlines = cv2.Canny(cv2.GaussianBlur(pixels, (0, 0), 1.2), 60, 140)
    away = np.asarray(cv2.distanceTransform(255 - outlines, cv2.DIST_L2, 5), np.float32)
    wave = 16 * np.cos(away * (2 * np.pi / 6)) * np.exp(-away / 10) * (away > 1.5)
    return whole(pixels + wave[..., None])


def meander(pixels: Pixels, step: int) -> Pixels:
    """Everything shifted to and fro by a pixel or two, along waves of about ten pixels."""
    height, width = pixels.shape[:2]
    chance = np.random.default_rng(5)
    grid = chance.normal(0, 1.6, (height // 5, width // 5, 2)).astype(np.float32)
    shift = cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC)
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    return np.asarray(cv2.remap(pixels, columns + shift[..., 0], rows + shift[..., 1], cv2.INTER_CUBIC), np.uint8)


def grid(pixels: Pixels, step: int, *, period: int = 16, height: float = 6.0) -> Pixels:
    """Patches that do not agree on the brightness."""
    rows, columns = (side // period + 1 for side in pixels.shape[:2])
    offsets = np.random.default_rng(7).normal(0, height, (rows, columns))
    whole_size = np.kron(offsets, np.ones((period, period)))[: pixels.shape[0], : pixels.shape[1]]
    return whole(pixels + whole_size[..., None])


def green(pixels: Pixels, step: int) -> Pixels:
    return whole(pixels * np.array([0.9, 1.0, 0.9]))


def soft(pixels: Pixels, step: int) -> Pixels:
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), 1.4), np.uint8)


def flat_colours(pixels: Pixels, step: int) -> Pixels:
    """Six levels a channel after smoothing: gradients become steps."""
    smooth = cv2.medianBlur(pixels, 5).astype(np.float32)
    return whole(np.floor(smooth / 64) * 64 + 32)


FAILURES: dict[str, Change] = {
    "static-noise": static,
    "scatter-points": specks,
    "contour-wrinkles": meander,
    "lattice": grid,
    "colour-cast": green,
    "texture-loss": soft,
    "simplification": flat_colours,
}
"""One clear case of each."""

BRINGS = {("simplification", "texture-loss"), ("simplification", "colour-cast"), ("simplification", "contour-wrinkles")}
"""Flat colours have no texture, are not the old ones, and end in new outlines."""


def others(name: str) -> list[str]:
    """The failures that this one must not be taken for."""
    return [other for other in FAILURES if other != name and (other, name) not in BRINGS]


def found(examination: Examination) -> int | None:
    """The first step of the only finding, or None."""
    assert len(examination.findings) <= 1
    assert not examination.cannot_tell
    return examination.findings[0].step if examination.findings else None
