"""Where an editor did what it was asked, and where it only left its wear behind.

Wear is what is spread all over a picture: noise, a codec's marks, a tint, softened edges. An edit is what stands out
from it. The change of tone that the whole picture underwent is fitted and set aside (`tone.py`). What is left is
measured in ΔE at two scales, coarse and fine, and held against a floor: what a place of that texture usually shows in
this very pair, since codecs, resampling and autoencoders err most where there is most detail. Coarse patches far above
the floor are edits; fine differences that touch them belong to them, so that thin parts stay on.

Pictures of which no such division can be made are not divided: `Whole` says why.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.made.tone import Tone, fit_tone
from convergebench.errors import Unmeasurable
from convergebench.images.align import CONFIDENT
from convergebench.images.frame import Frame, Pixels, Plane
from convergebench.images.registration import register
from convergebench.metrics.operations import GEOMETRIC

VERSION = 1
"""Raised whenever another region would be found; part of the fingerprints of all who use it."""
COARSE, FINE = 0.010, 0.0028
"""Blur of the two scales, as shares of the longer side."""
FINEST = 1.6, 0.6
"""And never under so many pixels: softened edges must not show at the coarse scale."""
LEAST, LEAST_FINE = 2.0, 2.0
"""ΔE under which nothing counts as an edit, however quiet the rest is."""
SPREADS, SPREADS_FINE = 8.0, 5.0
"""Robust standard deviations above the floor from which on a place counts as edited."""
WIDE = 4.0
"""Pixels of blur from which on it is done on a smaller picture."""
BINS = 12
"""Classes of texture, from the calmest to the busiest, each with its own floor."""
REACH = 4
"""How far from a coarse patch fine differences may belong to it, in coarse blurs."""
SMALLEST = 0.0003
"""Share of the picture under which a patch is a freak of wear and no edit."""
MOVED = 1.5
"""Pixels a corner may move before the picture counts as moved."""
UNLIKE = 4.0
"""ΔE of the median place from which on a picture that does not correlate with its input is another one."""

Mask = NDArray[np.bool_]


class Parts(NamedTuple):
    """A picture divided: `edited` pixels, and the tone that leads from before to after elsewhere."""

    edited: Mask
    tone: Tone
    threshold: float
    """ΔE from which on a calm place counted as edited."""
    tint: float
    """ΔE by which the tone moved three quarters of the picture at most."""


class Whole(NamedTuple):
    """A pair that cannot be divided, and why in a few words."""

    why: str


def divide(after: Pixels, before: Pixels, *, tint: float, most: float) -> Parts | Whole:
    """What of `after` was edited; `Whole` if the sizes differ, it moved, or more than `most` of it was changed.

    A change of tone that moves a quarter of the picture by more than `tint` ΔE is taken for the edit itself.
    """
    if after.shape != before.shape:
        return Whole(f"came back at {after.shape[1]}×{after.shape[0]}")
    if np.array_equal(after, before):
        return Parts(np.zeros(before.shape[:2], np.bool_), Tone.none(), LEAST, 0.0)
    turned = _turned(after, before)
    if turned is not None:
        return Whole(turned)
    tone = fit_tone(before, after)
    levels = before.astype(np.float32)
    toned = np.clip(levels + tone.added(levels), 0, 255)
    lab, toned_lab = _lab(after.astype(np.float32)), _lab(toned)
    shift = float(np.quantile(_length(toned_lab - _lab(levels)), 0.75))
    if shift > tint:
        return Whole(f"the whole picture changed colour (ΔE {shift:.1f})")
    change = lab - toned_lab
    moved = _moved(after, before, change)
    if moved is not None:
        return Whole(moved)
    edited, threshold = _edited(change, toned_lab[..., 0])
    share = float(edited.mean())
    if share > most:
        return Whole(f"{share:.0%} of the picture changed")
    return Parts(edited, tone, threshold, shift)


def _turned(after: Pixels, before: Pixels) -> str | None:
    """Whether the picture as a whole was mirrored or turned."""
    small, other = _thumbnail(after), _thumbnail(before)
    here = _distance(small, other)
    for name, transform in GEOMETRIC.items():
        turned = transform(other)
        if turned.shape == small.shape and _distance(small, turned) < 0.5 * here:
            return f"looks like a {name}"
    return None


def _moved(after: Pixels, before: Pixels, change: Plane) -> str | None:
    """Whether the picture as a whole was shifted, zoomed or replaced."""
    try:
        found = register(Frame(after), Frame(before))
    except Unmeasurable:
        return None  # no features that could move
    if found.confidence < CONFIDENT:
        # a bold object in a plain picture spoils the correlation too, but not the colour of most places
        usual = float(np.median(_length(_blurred(change, max(FINEST[0], COARSE * max(change.shape))))))
        return f"is another picture (correlation {found.confidence:.2f})" if usual > UNLIKE else None
    height, width = before.shape[:2]
    across = abs(found.shift_x) + abs(found.scale_x - 1) * width / 2
    down = abs(found.shift_y) + abs(found.scale_y - 1) * height / 2
    return f"moved by {max(across, down):.1f} pixels" if max(across, down) > MOVED else None


def _thumbnail(pixels: Pixels) -> Pixels:
    height, width = pixels.shape[:2]
    factor = min(1.0, 48 / max(height, width))
    size = max(1, round(width * factor)), max(1, round(height * factor))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def _distance(one: Pixels, other: Pixels) -> float:
    return float(np.square(one.astype(np.float32) - other).mean())


def _edited(change: Plane, lightness: Plane) -> tuple[Mask, float]:
    longer = max(change.shape[:2])
    coarse, fine = max(FINEST[0], COARSE * longer), max(FINEST[1], FINE * longer)
    texture = _blurred(_gradient(lightness), coarse)
    broad, near = (_length(_blurred(change, sigma)) for sigma in (coarse, fine))
    high, threshold = _threshold(broad, texture, LEAST, SPREADS)
    low, _ = _threshold(near, texture, LEAST_FINE, SPREADS_FINE)
    seeds = _patches(broad > high)
    if not seeds.any():
        return seeds, threshold
    # not farther than this: codec marks can join up to a net over half the picture
    around = cv2.dilate(seeds.astype(np.uint8), _disc(round(REACH * coarse))) > 0
    grown = _touching(((near > low) & around) | seeds, seeds)
    return _whole(grown, round(coarse)), threshold


def _threshold(difference: Plane, texture: Plane, least: float, spreads: float) -> tuple[Plane, float]:
    """The level above which a place is edited, pixel by pixel, and that of the calmest places."""
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
    # wear never falls with texture, and grows in proportion to it at most: a class that an edit fills cannot hide it
    levels = np.maximum(least, np.minimum.accumulate(levels[::-1])[::-1])
    room = middles + 1.0
    levels = room * np.minimum.accumulate(levels / room)
    return np.interp(texture, middles, levels).astype(np.float32), float(levels[0])


def _patches(mask: Mask) -> Mask:
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    large = stats[:, cv2.CC_STAT_AREA] >= max(4.0, SMALLEST * mask.size)
    large[0] = False
    return np.asarray(large[labels], np.bool_) if count > 1 else np.zeros_like(mask)


def _touching(mask: Mask, seeds: Mask) -> Mask:
    """The patches of `mask` that have a seed in them."""
    count, labels = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
    wanted = np.zeros(count, np.bool_)
    wanted[np.unique(labels[seeds])] = True
    wanted[0] = False
    return np.asarray(wanted[labels], np.bool_)


def _whole(mask: Mask, radius: int) -> Mask:
    """Gaps closed and holes filled, so that a thing is kept in one piece. A hole larger than its rim stays open."""
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
    factor = min(1.0, WIDE / sigma)
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
