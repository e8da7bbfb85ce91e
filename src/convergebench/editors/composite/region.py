"""Separates the region that an editor edited from the rest, which only shows wear.

Wear is what is spread all over a picture: noise, a codec's marks, a tint, softened edges. An edit is what stands out
from it. The change of tone that the whole picture underwent is fitted and set aside (`tone.py`). What is left is
measured in ΔE at two scales, coarse and fine, and held against a floor: what a place of that texture usually shows in
this very pair, since codecs, resampling and autoencoders err most where there is most detail. Coarse patches far above
the floor are edits; fine differences that touch them belong to them, so that thin parts stay on.

If the pair cannot be divided this way, `NotDivided` says why.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.composite.tone import ToneCurve, fit_tone
from convergebench.errors import Unmeasurable
from convergebench.images.align import CONFIDENT
from convergebench.images.frame import Frame, Pixels, Plane
from convergebench.images.registration import register
from convergebench.metrics.operations import GEOMETRIC

VERSION = 1
"""Incremented whenever other regions would be found; part of the fingerprints of editors that use it."""
COARSE, FINE = 0.010, 0.0028
"""Blur of the two scales, as shares of the longer side."""
LEAST_BLUR = 1.6, 0.6
"""Smallest blurs in pixels, so that softened edges do not show at the coarse scale."""
LEAST, LEAST_FINE = 2.0, 2.0
"""ΔE below which nothing counts as an edit, even in a calm picture."""
SPREADS, SPREADS_FINE = 8.0, 5.0
"""Robust standard deviations above the floor that count as edited."""
DOWNSCALE_FROM = 4.0
"""Blurs from this many pixels on are computed on a smaller picture."""
BINS = 12
"""Classes of texture, from the calmest to the busiest, each with its own floor."""
REACH = 4
"""How far from a coarse patch fine differences may belong to it, in coarse blurs."""
SMALLEST_PATCH = 0.0003
"""Smaller patches, as a share of the picture, count as wear."""
MOST_SHIFT = 1.5
"""Pixels a corner may shift before the picture counts as moved."""
ANOTHER_PICTURE = 4.0
"""Median ΔE above which a picture that does not correlate with its input is another picture."""

Mask = NDArray[np.bool_]


class DividedImage(NamedTuple):
    """A divided picture: the `edited` pixels, and the change of tone elsewhere."""

    edited: Mask
    tone: ToneCurve
    threshold: float
    """ΔE above which calm pixels counted as edited."""
    tint: float
    """75th percentile of the change of tone, in ΔE."""


class NotDivided(NamedTuple):
    """A pair that cannot be divided, with a short reason."""

    why: str


def divide(after: Pixels, before: Pixels, *, tint: float, most: float) -> DividedImage | NotDivided:
    """The edited region of `after`; `NotDivided` if the sizes differ, it moved, or more than `most` of it changed.

    A change of tone that moves a quarter of the picture by more than `tint` ΔE counts as the edit itself.
    """
    if after.shape != before.shape:
        return NotDivided(f"came back at {after.shape[1]}×{after.shape[0]}")
    if np.array_equal(after, before):
        return DividedImage(np.zeros(before.shape[:2], np.bool_), ToneCurve.none(), LEAST, 0.0)
    reoriented = _reoriented(after, before)
    if reoriented is not None:
        return NotDivided(reoriented)
    tone = fit_tone(before, after)
    levels = before.astype(np.float32)
    toned = np.clip(levels + tone.added(levels), 0, 255)
    lab, toned_lab = _lab(after.astype(np.float32)), _lab(toned)
    shift = float(np.quantile(_length(toned_lab - _lab(levels)), 0.75))
    if shift > tint:
        return NotDivided(f"the whole image changed colour (ΔE {shift:.1f})")
    change = lab - toned_lab
    moved = _moved(after, before, change)
    if moved is not None:
        return NotDivided(moved)
    edited, threshold = _edited(change, toned_lab[..., 0])
    share = float(edited.mean())
    if share > most:
        return NotDivided(f"{share:.0%} of the image changed")
    return DividedImage(edited, tone, threshold, shift)


def _reoriented(after: Pixels, before: Pixels) -> str | None:
    """The flip or rotation of the whole picture, if any."""
    small, other = _thumbnail(after), _thumbnail(before)
    here = _distance(small, other)
    for name, transform in GEOMETRIC.items():
        reoriented = transform(other)
        if reoriented.shape == small.shape and _distance(small, reoriented) < 0.5 * here:
            return f"looks like a {name}"
    return None


def _moved(after: Pixels, before: Pixels, change: Plane) -> str | None:
    """How the whole picture was shifted, zoomed or replaced, if it was."""
    try:
        found = register(Frame(after), Frame(before))
    except Unmeasurable:
        return None  # no features that could move
    if found.confidence < CONFIDENT:
        # a bold object in a plain picture lowers the correlation too, but most colours stay
        usual = float(np.median(_length(_blurred(change, max(LEAST_BLUR[0], COARSE * max(change.shape))))))
        return f"is a different image (correlation {found.confidence:.2f})" if usual > ANOTHER_PICTURE else None
    height, width = before.shape[:2]
    across = abs(found.shift_x) + abs(found.scale_x - 1) * width / 2
    down = abs(found.shift_y) + abs(found.scale_y - 1) * height / 2
    return f"moved by {max(across, down):.1f} pixels" if max(across, down) > MOST_SHIFT else None


def _thumbnail(pixels: Pixels) -> Pixels:
    height, width = pixels.shape[:2]
    factor = min(1.0, 48 / max(height, width))
    size = max(1, round(width * factor)), max(1, round(height * factor))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def _distance(one: Pixels, other: Pixels) -> float:
    return float(np.square(one.astype(np.float32) - other).mean())


def _edited(change: Plane, lightness: Plane) -> tuple[Mask, float]:
    longer = max(change.shape[:2])
    coarse, fine = max(LEAST_BLUR[0], COARSE * longer), max(LEAST_BLUR[1], FINE * longer)
    texture = _blurred(_gradient(lightness), coarse)
    broad, near = (_length(_blurred(change, sigma)) for sigma in (coarse, fine))
    high, threshold = _threshold(broad, texture, LEAST, SPREADS)
    low, _ = _threshold(near, texture, LEAST_FINE, SPREADS_FINE)
    seeds = _patches(broad > high)
    if not seeds.any():
        return seeds, threshold
    # limited, since codec artefacts can connect over half the picture
    around = cv2.dilate(seeds.astype(np.uint8), _disc(round(REACH * coarse))) > 0
    grown = _touching(((near > low) & around) | seeds, seeds)
    return _filled(grown, round(coarse)), threshold


def _threshold(difference: Plane, texture: Plane, least: float, spreads: float) -> tuple[Plane, float]:
    """The level above which a pixel is edited, for each pixel, and that of the calmest texture."""
    edges = np.quantile(texture[::2, ::2], np.linspace(0, 1, BINS + 1)[1:-1])
    place = np.searchsorted(edges, texture)
    levels, middles = np.zeros(BINS), np.zeros(BINS)
    for number in range(BINS):
        some, about = difference[place == number], texture[place == number]
        if not some.size:
            levels[number], middles[number] = np.inf, edges[min(number, BINS - 2)]
            continue
        median = float(np.median(some))
        levels[number] = median + spreads * 1.4826 * float(np.median(np.abs(some - median)))
        middles[number] = float(np.median(about))
    # wear grows with texture, at most in proportion: so a class that an edit dominates cannot hide it
    levels = np.maximum(least, np.minimum.accumulate(levels[::-1])[::-1])
    room = middles + 1.0
    levels = room * np.minimum.accumulate(levels / room)
    return np.interp(texture, middles, levels).astype(np.float32), float(levels[0])


def _patches(mask: Mask) -> Mask:
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    large = stats[:, cv2.CC_STAT_AREA] >= max(4.0, SMALLEST_PATCH * mask.size)
    large[0] = False
    return np.asarray(large[labels], np.bool_) if count > 1 else np.zeros_like(mask)


def _touching(mask: Mask, seeds: Mask) -> Mask:
    """The patches of `mask` that contain a seed."""
    count, labels = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
    touched = np.zeros(count, np.bool_)
    touched[np.unique(labels[seeds])] = True
    touched[0] = False
    return np.asarray(touched[labels], np.bool_)


def _filled(mask: Mask, radius: int) -> Mask:
    """Close gaps and fill holes, so that an object stays in one piece. A hole larger than its rim stays open."""
    closed = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, _disc(max(1, radius)))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(1 - closed, connectivity=4)
    height, width = mask.shape
    solid = int(closed.sum())
    for number in range(1, count):
        left, top, across, down, area = stats[number]
        inside = left > 0 and top > 0 and left + across < width and top + down < height
        if inside and area <= solid:
            closed[labels == number] = 1
    return np.asarray(closed > 0, np.bool_)


def _disc(radius: int) -> NDArray[np.uint8]:
    side = 2 * max(0, radius) + 1
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)), np.uint8)


def _gradient(lightness: Plane) -> Plane:
    across, down = (cv2.Scharr(lightness, cv2.CV_32F, *axis, scale=1 / 32) for axis in ((1, 0), (0, 1)))
    return np.asarray(np.hypot(across, down), np.float32)


def _blurred(plane: Plane, sigma: float) -> Plane:
    height, width = plane.shape[:2]
    factor = min(1.0, DOWNSCALE_FROM / sigma)
    if factor < 1:  # a wide blur needs no full resolution
        size = max(1, round(width * factor)), max(1, round(height * factor))
        plane = np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA), np.float32)
    blurred = cv2.GaussianBlur(plane, (0, 0), sigma * factor, borderType=cv2.BORDER_REFLECT)
    if factor < 1:
        blurred = cv2.resize(blurred, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(blurred, np.float32)


def _length(vectors: Plane) -> Plane:
    return np.asarray(np.sqrt(np.square(vectors).sum(axis=-1)), np.float32)


def _lab(levels: Plane) -> Plane:
    return np.asarray(cv2.cvtColor(levels * np.float32(1 / 255), cv2.COLOR_RGB2LAB), np.float32)
