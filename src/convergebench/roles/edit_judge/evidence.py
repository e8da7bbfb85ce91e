"""What can be measured of two pictures, whatever the edit was: brought to one grid, changed where, kept how far."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from convergebench.errors import Unmeasurable
from convergebench.images.align import Aligned, align
from convergebench.images.frame import Frame, Plane
from convergebench.metrics._lab import lab, mean_lab
from convergebench.metrics._planes import luma
from convergebench.metrics._region import Mask, changed_region
from convergebench.metrics.base import Item
from convergebench.metrics.diagnostics.blockiness import blockiness
from convergebench.metrics.diagnostics.noise import noise
from convergebench.roles.edit_judge.descriptions import (
    COLOURS,
    clipped_share,
    colours,
    correlation,
    crispness,
    distance,
    edges,
    local_similarity,
    texture,
)
from convergebench.roles.edit_judge.recolouring import dimmed, recoloured

LONGEST = 512
"""Pixels of the input's longer side at which pictures are compared."""
SMALLEST = 32
"""Pixels of the shorter side under which there is nothing to compare."""
LOCAL = 12.0
"""Colour change (ΔE) of a place, where no tone of the whole picture explains it, that makes it a changed one."""
CELLS, CELL_CHANGED = 16, 1.5
"""Cells along a side, and the mean colour change (ΔE) from which on a change of the whole picture reaches one."""
MOVED = 0.015
"""Share of a side that a corner must move before a picture of the same size counts as framed anew."""


@dataclass(frozen=True, eq=False)
class EditEvidence:
    """An edited picture and its input; `after` and `before` are on one grid."""

    edited: Frame
    """As it was returned."""
    source: Frame
    after: Frame
    before: Frame
    out_of_view: float
    """Share of the input that the edited picture does not show."""

    @cached_property
    def change(self) -> Plane:
        """Colour change (ΔE) of every pixel, softened."""
        return distance(self.after, self.before)

    @cached_property
    def told_apart(self) -> float:
        """How far the changed place stands out from what happened everywhere, from 0 to 1."""
        inside, outside = self._means
        return max(0.0, (inside - outside) / (inside + outside)) if inside + outside > 0 else 0.0

    @cached_property
    def strength(self) -> float:
        """Mean colour change in the changed place; 0 if there is none."""
        return self._means[0]

    @cached_property
    def place(self) -> Mask | None:
        """The pixels that changed beyond what happened everywhere; None if there is no such place."""
        region = changed_region(self.after, self.before)
        if region is not None:
            grown = cv2.resize(region.mask.astype(np.uint8), self.before.size, interpolation=cv2.INTER_NEAREST)
            return np.asarray(grown > 0)
        # so much may have changed that the rest of the picture is no measure of what happened everywhere
        plain = self.change > LOCAL
        return np.asarray(plain) if 0.2 < float(plain.mean()) < 0.95 else None

    @cached_property
    def share(self) -> float:
        """Share of the picture that the changed place covers."""
        return 0.0 if self.place is None else float(self.place.mean())

    @cached_property
    def compactness(self) -> float:
        """Radius of the largest disc inside the changed place over the root of its area."""
        if self.place is None:
            return 0.0
        padded = np.pad(self.place.astype(np.uint8), 1)
        radius = float(cv2.distanceTransform(padded, cv2.DIST_L2, 5).max())
        return radius / float(np.sqrt(self.place.sum()))

    @cached_property
    def standing_out(self) -> float:
        """By how much more than before the changed place differs from what surrounds it (ΔE of the means)."""
        if self.place is None:
            return 0.0
        side = max(5, round(0.06 * max(self.before.size))) | 1
        around = (cv2.dilate(self.place.astype(np.uint8), np.ones((side, side), np.uint8)) > 0) & ~self.place
        if not around.any():
            return 0.0
        after, before = (
            float(np.sqrt(sum((plane[self.place].mean() - plane[around].mean()) ** 2 for plane in lab(frame))))
            for frame in (self.after, self.before)
        )
        return after - before

    @cached_property
    def foreign(self) -> float:
        """Share of the changed place with colours that are nowhere in the input."""
        if self.place is None:
            return 0.0
        known = np.zeros((COLOURS + 2,) * 3, np.bool_)
        for step in np.ndindex(3, 3, 3):  # neighbouring colours are not foreign
            known[tuple((colours(self.before) + np.array(step)).reshape(-1, 3).T)] = True
        return 1.0 - float(known[tuple((colours(self.after)[self.place] + 1).T)].mean())

    @cached_property
    def elsewhere(self) -> Mask:
        """The pixels away from the changed place."""
        if self.place is None:
            return np.ones(self.before.pixels.shape[:2], np.bool_)
        side = max(3, round(0.04 * max(self.before.size))) | 1
        return np.asarray(cv2.dilate(self.place.astype(np.uint8), np.ones((side, side), np.uint8)) == 0)

    @cached_property
    def layout(self) -> float:
        """Correlation of the two pictures' edges: 1 for the same picture, about 0.1 for another one."""
        return correlation(edges(self.after), edges(self.before))

    @cached_property
    def layout_elsewhere(self) -> float:
        """The same away from the changed place, where that is most of the picture."""
        one, other = edges(self.after), edges(self.before)
        size = one.shape[1], one.shape[0]
        rest = cv2.resize(self.elsewhere.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
        return correlation(one[rest], other[rest]) if rest.mean() > 0.3 else self.layout

    @cached_property
    def similarity(self) -> Plane:
        """Local structural similarity of luma (window σ 1.5), as a plane."""
        return local_similarity(luma(self.after), luma(self.before))

    @cached_property
    def shift(self) -> dict[str, float]:
        """How the whole picture's lightness moved, and chroma and warmth (b* and half of a*) at equal brightness."""
        # a picture that is only made darker has less of every colour, and is neither cooler nor paler
        one, other = mean_lab(self.after), mean_lab(dimmed(self.before, self.after))
        light = float(lab(self.after).lightness.mean() - lab(self.before).lightness.mean())
        return {"lightness": light, "chroma": one.chroma - other.chroma, "b": one.b - other.b + (one.a - other.a) / 2}

    @cached_property
    def style(self) -> float:
        """Distance of the descriptions of texture and colour."""
        return float(np.linalg.norm(texture(self.after) - texture(self.before)))

    @cached_property
    def redrawn(self) -> float:
        """The same distance, from the input under the mapping of colours that explains most: 0 for any filter."""
        return float(np.linalg.norm(texture(self.after) - texture(recoloured(self.before, self.after))))

    @cached_property
    def unexplained(self) -> float:
        """Share of the colour change that no mapping of all colours explains; 0 for a filter over the picture."""
        left = distance(self.after, recoloured(self.before, self.after))
        return float(left.mean()) / max(float(self.change.mean()), 1e-6)

    @cached_property
    def reach(self) -> float:
        """Share of the picture's cells that changed."""
        cells = cv2.resize(self.change, (CELLS, CELLS), interpolation=cv2.INTER_AREA)
        return float((cells > CELL_CHANGED).mean())

    def redrawn_in(self, area: Mask) -> float:
        """Colour change in an area that no mapping of its colours explains, root mean square."""
        left = distance(self.after, recoloured(self.before, self.after, area))
        return float(np.sqrt(np.square(left[area]).mean()))

    @cached_property
    def grain(self) -> float:
        """Rise of the noise, in levels."""
        return noise(Item(self.after)) - noise(Item(self.before))

    @cached_property
    def crispness(self) -> float:
        """Crispness of the steepest edges against the input's: 1 as crisp, about a half for plain blur."""
        return crispness(self.after) / crispness(self.before)

    @cached_property
    def clipped(self) -> float:
        """Rise of the share of pixels that are burnt out or black."""
        return clipped_share(self.after) - clipped_share(self.before)

    @cached_property
    def blocks(self) -> float:
        """Rise of the blockiness."""
        return blockiness(Item(self.edited)) - blockiness(Item(self.source))

    @cached_property
    def _means(self) -> tuple[float, float]:
        if self.place is None:
            return 0.0, 0.0
        region = changed_region(self.after, self.before)
        if region is not None:
            return region.inside, region.outside
        rest = self.change[~self.place]
        return float(self.change[self.place].mean()), float(rest.mean()) if rest.size else 0.0


def evidence(edited: Frame, source: Frame) -> EditEvidence:
    """Both pictures on one grid; `Unmeasurable` if one of them is too small to be compared."""
    if min(*edited.size, *source.size) < SMALLEST:
        raise Unmeasurable("too-small", f"a side is under {SMALLEST} pixels")
    factor = min(1.0, LONGEST / max(source.size))
    subject, reference = scaled(edited, factor), scaled(source, factor)
    try:
        found = align(subject, reference, "auto" if subject.size != reference.size else "crop-aware")
    except Unmeasurable:  # the edit moved or replaced so much that nothing can be registered
        return EditEvidence(edited, source, subject, reference, 0.0)
    crop = found.detail.get("crop", 0.0) if found.done == "registered" else 0.0
    if subject.size == reference.size and (crop < MOVED or not _fits_better(found, subject, reference)):
        return EditEvidence(edited, source, subject, reference, 0.0)
    return EditEvidence(edited, source, found.subject, found.reference, crop)


def _fits_better(found: Aligned, subject: Frame, reference: Frame) -> bool:
    """Whether moving the whole picture explains the change; moving one thing in it does not."""
    moved = float(np.median(cv2.absdiff(found.subject.pixels, found.reference.pixels)))
    as_is = float(np.median(cv2.absdiff(subject.pixels, reference.pixels)))
    return moved < 0.7 * as_is


def scaled(frame: Frame, factor: float) -> Frame:
    """The frame reduced by a factor; itself if there is nothing to reduce."""
    if factor >= 1:
        return frame

    def make(frame: Frame) -> Frame:
        size = max(1, round(frame.width * factor)), max(1, round(frame.height * factor))
        return Frame(np.asarray(cv2.resize(frame.pixels, size, interpolation=cv2.INTER_AREA), np.uint8), frame.id)

    return frame.derived(("reduced", factor), make)
