"""Degraded photographs and their restorations as chains, for the detectors that propose what a restoration invented."""

from __future__ import annotations

from functools import cache, partial

import cv2
import numpy as np

from benchmarks.planted._inventions import Changed, Maker, Place
from convergebench.degradations import load_degradation
from convergebench.failures.base import Box, ChainView, Examination, StepView
from convergebench.images.frame import Frame, Pixels
from tests.metrics.pictures import photograph, resized

SIDE = 320


@cache
def astronaut() -> Pixels:
    """A face, plain cloth, a flag and machinery."""
    return resized(photograph("astronaut", 512, 512), SIDE, SIDE)


@cache
def cup() -> Pixels:
    """A cup on a table."""
    return resized(photograph("coffee", 600, 400), 384, 256)


def grey(pixels: Pixels) -> Pixels:
    """The same in black and white."""
    return np.asarray(cv2.cvtColor(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB), np.uint8)


@cache
def degraded(name: str, which: str = "astronaut", seed: int = 3) -> Pixels:
    """A photograph after one of the project's degradations."""
    return load_degradation(name)({"astronaut": astronaut, "cup": cup}[which](), seed=seed)


def restoration(given: Pixels, *results: Pixels, clean: Pixels | None = None) -> ChainView:
    """The degraded picture, and the result of every round."""
    steps = [StepView(index, partial(Frame, np.ascontiguousarray(one))) for index, one in enumerate((given, *results))]
    load = None if clean is None else partial(Frame, np.ascontiguousarray(clean))
    return ChainView("editor", "case", "source", "LF3", "LF", steps, restores=True, load_clean=load)


def put(make: Maker, pixels: Pixels, *, strength: int = 2, seed: int = 1) -> Changed:
    """Something invented, somewhere in the picture."""
    changed = make(pixels, strength, np.random.default_rng(seed))
    assert changed is not None
    return changed


def seen(examination: Examination) -> Box | None:
    """The region of the only finding, which is a proposal; None if nothing was found."""
    assert not examination.cannot_tell
    assert not examination.does_not_apply
    if not examination.findings:
        return None
    (finding,) = examination.findings
    assert finding.detail.startswith("proposed: ")
    assert finding.step == 1
    return finding.region or Box(0, 0, 1, 1)


def overlap(found: Box, place: Place, pixels: Pixels) -> float:
    """How much of the found region lies in the place that was changed."""
    height, width = pixels.shape[:2]
    left, top = place.left / width, place.top / height
    wide = min(found.x + found.width, left + place.width / width) - max(found.x, left)
    high = min(found.y + found.height, top + place.height / height) - max(found.y, top)
    return float(max(0.0, wide) * max(0.0, high) / (found.width * found.height))
