"""Damage to colour only, level by level: exact laws for tests of the analysis."""

from __future__ import annotations

import math
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.simulated.options import ChoiceOption, ColourOption, NumberOption, colour_of
from convergebench.editors.simulated.pixels import Pixels, pixels_of
from convergebench.editors.simulated.wear.base import Wear, WearContext, WearKind


def tint(*, red: float, green: float, blue: float) -> Wear:
    """A constant shift per step, in 8-bit levels. Fractions build up: 0.5 adds a level every other step."""

    def wear(pixels: Pixels, context: WearContext) -> Pixels:
        now = [_sum(rate, context.step + 1) - _sum(rate, context.step) for rate in (red, green, blue)]
        table = np.clip(np.arange(256)[:, None] + now, 0, 255).astype(np.uint8)[None]
        return pixels_of(cv2.LUT(pixels, table))

    return wear


def _sum(rate: float, steps: int) -> int:
    return math.floor(rate * steps + 0.5)


def contract(*, q: float, target: str) -> Wear:
    """X → I* + √q · (x − I*) per step, so that a round of two steps contracts by q towards the colour I*.

    Plain rounding would get stuck within 5 levels of I*. The picture's step count determines which levels have merged
    so far, so each level is moved to the exact position of its source levels: rounding errors do not add up.
    """
    colour = colour_of(target)

    def wear(pixels: Pixels, context: WearContext) -> Pixels:
        return pixels_of(cv2.LUT(pixels, _contraction(q, colour, context.step)))

    return wear


@lru_cache(maxsize=1024)
def _contraction(q: float, colour: tuple[int, int, int], step: int) -> NDArray[np.uint8]:
    """The table of levels that step number `step` (from 0) applies, for the three channels."""
    columns = []
    for target in colour:
        here, there = _contracted(q, target, step), _contracted(q, target, step + 1)
        # Levels that no source level leads to (an object just added) move by the plain rule.
        table = np.rint(target + math.sqrt(q) * (np.arange(256) - target))
        table[here] = there
        columns.append(table)
    return np.stack(columns, axis=-1).astype(np.uint8)[None]


@lru_cache(maxsize=4096)
def _contracted(q: float, target: int, steps: int) -> NDArray[np.intp]:
    """Where each of the 256 source levels is after some steps; levels that once met stay together."""
    if steps == 0:
        return np.arange(256)
    before = _contracted(q, target, steps - 1)
    after = np.empty(256, np.intp)
    for level in np.unique(before):
        origin = before == level
        after[origin] = round(target + q ** (steps / 2) * (float(np.flatnonzero(origin).mean()) - target))
    return after


def cycle(*, direction: str) -> Wear:
    """The channels change places in a ring: red → green → blue → red. Lossless; three steps are the identity."""
    order = [2, 0, 1] if direction == "forward" else [1, 2, 0]

    def wear(pixels: Pixels, context: WearContext) -> Pixels:
        return np.ascontiguousarray(pixels[..., order])

    return wear


_SHIFT = NumberOption(0.0, -32, 32)
TINT = WearKind({"red": _SHIFT, "green": NumberOption(1.0, -32, 32), "blue": _SHIFT}, tint)
CONTRACT = WearKind({"q": NumberOption(0.8, 0.01, 0.999), "target": ColourOption("#808080")}, contract)
CYCLE = WearKind({"direction": ChoiceOption("forward", ("forward", "backward"))}, cycle)
