"""Short chains for the detectors' tests: simulated editors on small photographs, or pictures given by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.planted._simulated import Step, run
from convergebench.failures.base import ChainView, StepView
from convergebench.images.frame import Frame, Pixels
from convergebench.types import Operation
from tests.metrics.pictures import resized

APPLE = "Add one more apple to the table."
COPY = "Produce an exact replica of the provided image, with no alterations."
MIRROR = "Mirror this image horizontally."
TURN = "Rotate this image by 90 degrees clockwise."
GREY = "Make this image monochrome."
NOISE: list[dict[str, Any]] = [{"kind": "noise", "sigma": 3 / 255}]


CUTS = {
    "coffee": ("coffee.png", (0, 100, 400)),
    "motorcycle": ("motorcycle_left.png", (0, 120, 500)),
    "rocket": ("rocket.jpg", (0, 110, 427)),
    "astronaut": ("astronaut.png", (0, 0, 512)),
    "chelsea": ("chelsea.png", (0, 90, 300)),
}
"""Photograph of scikit-image → its file, and the square of it that is used: top, left, side."""


@cache
def picture(name: str = "coffee") -> Pixels:
    """A photograph that comes with scikit-image, 320 pixels a side."""
    file, (top, left, side) = CUTS[name]
    with resources.files("skimage.data").joinpath(file).open("rb") as opened:
        pixels = np.asarray(Image.open(opened).convert("RGB"))[top : top + side, left : left + side]
    return resized(pixels, 320, 320)


def asked(words: str, operation: Operation, **options: Any) -> Step:
    """One step, and the options of the editor `sim` that does it."""
    return Step(words, operation, options, "around" if operation in ("add", "remove") else "whole")


def simulated(steps: Sequence[Step], *, source: Pixels | None = None) -> ChainView:
    """The chain that simulated editors make of these steps, with their summaries."""
    return run("source", picture() if source is None else source, steps, variant="variant", family="family", seed=7)


def drawn(
    pictures: Sequence[Pixels], operation: Operation | None, *, summaries: Sequence[str | None] = ()
) -> ChainView:
    """A chain of pictures as they are, every step asked for the same."""
    padded = [*summaries, *[None] * len(pictures)]
    views = [StepView(0, _holder(pictures[0]))]
    for index, pixels in enumerate(pictures[1:], start=1):
        views.append(StepView(index, _holder(pixels), "", operation, reasoning=padded[index - 1], parent=index - 1))
    return ChainView("editor", "case", "source", "variant", "family", views)


def _holder(pixels: Pixels) -> Callable[[], Frame]:
    return lambda: Frame(pixels)
