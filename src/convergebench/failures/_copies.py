"""Parts of a picture that repeat something the source shows only once."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from convergebench.failures._aligned_pair import reduced
from convergebench.failures._changes import changes
from convergebench.failures.base import Box
from convergebench.images.frame import Frame, Plane

LONGEST = 256
"""Longer side, in pixels, of the pictures searched for copies."""
MOST = 6
"""Most changed patches examined, the largest first."""
SMALLEST = 16
"""Side, in pixels, of the smallest part that can be distinguished from chance likeness."""
FINE, BROAD = 0.7, 5.0
"""Sigmas of the blurs that remove noise and broad shading; shading alone makes unrelated places alike."""
LIVELY = 3.0
"""Standard deviation of the outlines, in levels, below which a part is too plain to be recognised."""
APART = 0.75
"""Least distance of the original from its copy, in sizes of the part."""
SIZES = (1.0, 0.8, 1.25)
"""Relative sizes at which a copy is searched for, each also mirrored."""


class Copy(NamedTuple):
    """A part of the picture that repeats another one."""

    likeness: float
    """Correlation of the two places in the picture."""
    before: float
    """The best correlation that the original's place had with any other place of the source."""
    part: Box
    """The copy, as shares of the picture."""
    original: Box
    """What it copies."""

    @property
    def excess(self) -> float:
        """How much the likeness exceeds the best one within the source."""
        return self.likeness - max(0.0, self.before)


class _Match(NamedTuple):
    likeness: float
    left: int
    top: int
    wide: int
    high: int


def best_copy(step: Frame, source: Frame) -> Copy | None:
    """The changed part of `step` that is most clearly a copy; None if no part is new, lively and large enough."""
    now, then = _outlines(step), _outlines(source)
    if now.shape != then.shape:
        return None
    found = [
        copy for patch in changes(step, source).patches[:MOST] if (copy := _copy_of(now, then, patch.box)) is not None
    ]
    return max(found, key=lambda copy: copy.excess, default=None)


def _outlines(frame: Frame) -> Plane:
    return frame.derived("copy-outlines", _make_outlines)


def _make_outlines(frame: Frame) -> Plane:
    """A small version without noise and broad shading, by which places are recognised."""
    small = cv2.GaussianBlur(reduced(frame, LONGEST).astype(np.float32), (0, 0), FINE)
    return np.asarray(small - cv2.GaussianBlur(small, (0, 0), BROAD), np.float32)


def _copy_of(now: Plane, then: Plane, box: Box) -> Copy | None:
    height, width = now.shape[:2]
    left, top = round(box.x * width), round(box.y * height)
    wide, high = round(box.width * width), round(box.height * height)
    if min(wide, high) < SMALLEST or max(wide / width, high / height) > 0.6:
        return None
    part = now[top : top + high, left : left + wide]
    if float(part.std()) < LIVELY:
        return None
    own = _Match(1.0, left, top, wide, high)
    best = max((_elsewhere(now, template, own) for template in _templates(part)), key=lambda match: match.likeness)
    original = then[best.top : best.top + best.high, best.left : best.left + best.wide]
    kept = _correlation(original, now[best.top : best.top + best.high, best.left : best.left + best.wide])
    # the original must have been there before, else both are new (a pattern drawn over the picture)
    likeness = min(best.likeness, kept)
    before = max(_elsewhere(then, template, best).likeness for template in _templates(original))
    return Copy(likeness, before, box, _shares(best, width, height))


def _templates(part: Plane) -> list[Plane]:
    versions = []
    for size in SIZES:
        scaled = part
        if size != 1.0:
            shape = max(4, round(part.shape[1] * size)), max(4, round(part.shape[0] * size))
            interpolation = cv2.INTER_AREA if size < 1 else cv2.INTER_LINEAR
            scaled = np.asarray(cv2.resize(part, shape, interpolation=interpolation), np.float32)
        versions += [scaled, np.ascontiguousarray(scaled[:, ::-1])]
    return versions


def _elsewhere(picture: Plane, template: Plane, own: _Match) -> _Match:
    """The best match of the template, away from the part itself."""
    high, wide = template.shape[:2]
    if high > picture.shape[0] or wide > picture.shape[1]:
        return _Match(0.0, 0, 0, wide, high)
    scores = np.asarray(cv2.matchTemplate(picture, template, cv2.TM_CCOEFF_NORMED), np.float32).copy()
    scores[~np.isfinite(scores)] = 0
    rows, columns = np.ogrid[: scores.shape[0], : scores.shape[1]]
    across = np.abs(columns + wide / 2 - own.left - own.wide / 2) / own.wide
    down = np.abs(rows + high / 2 - own.top - own.high / 2) / own.high
    scores[(across < APART) & (down < APART)] = -1
    _, likeness, _, (left, top) = cv2.minMaxLoc(scores)
    return _Match(float(likeness), int(left), int(top), wide, high)


def _correlation(one: Plane, other: Plane) -> float:
    if one.shape != other.shape or not one.size:
        return 0.0
    found = np.asarray(cv2.matchTemplate(one, other, cv2.TM_CCOEFF_NORMED), np.float32)
    value = float(found[0, 0])
    return value if np.isfinite(value) else 0.0


def _shares(match: _Match, width: int, height: int) -> Box:
    return Box(match.left / width, match.top / height, match.wide / width, match.high / height)
