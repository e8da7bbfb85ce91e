"""Restores colours: tone and low frequencies of the answer are set back to the input's.

The correction is estimated from the unedited region only (`region.py`): a smooth change of tone from the answer to the
input (`tone.py`), and the remaining difference after a wide blur. Both are added to the whole answer, so the edit loses
the same cast as its surroundings and keeps its own colours. The correction of the edit never exceeds that of the
unedited region, and detail is never changed.

An edit of the whole picture (grey, brighter, warmer) is left alone. It is distinguished from a cast by its size only: a
change of tone that moves a quarter of the picture by more than `tint` ΔE.
"""

from __future__ import annotations

from typing import Annotated, Any

import cv2
import numpy as np
from pydantic import Field

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.composite import region
from convergebench.editors.composite.base import CompositePart, check_name, part_of
from convergebench.editors.composite.pixels import CorrectedEditor, Correction
from convergebench.editors.composite.region import Mask, NotDivided, divide
from convergebench.editors.composite.tone import fit_tone
from convergebench.images.frame import Pixels, Plane
from convergebench.types import Editor

VERSION = 1
ROOM = 0.02
"""Margin around an edit that is left out of the estimate, as a share of the longer side."""
FADING = 0.05
"""Share of unedited surroundings below which the correction of low frequencies fades out."""


class AnchorOptions(Strict):
    """Strength and limits of the correction."""

    of: Any = None
    reach: Annotated[float, Field(ge=0.01, le=0.5)] = 0.05
    """Blur that separates low frequencies from detail, as a share of the longer side."""
    tint: Annotated[float, Field(ge=0, le=100)] = 5.0
    """A change of tone of the whole picture above this ΔE counts as the edit, and the answer is left alone."""
    most: Annotated[float, Field(gt=0, le=0.9)] = 0.6
    """A change of more than this share of the picture counts as an edit of the whole, and is left alone."""


class AnchorEditor(CorrectedEditor):
    """Returns the answer with the input's colours."""

    def __init__(self, name: str, of: Editor, options: AnchorOptions) -> None:
        values = options.model_dump(exclude={"of"})
        identity = {"of": of.fingerprint, "region": region.VERSION, **values}
        super().__init__(name, ids.fingerprint("anchor", VERSION, identity), of)
        self.options = options

    def correct(self, after: Pixels, before: Pixels) -> Correction:
        """`after` with the tone and the low frequencies of `before`; records how far it was moved, in levels."""
        found = divide(after, before, tint=self.options.tint, most=self.options.most)
        if isinstance(found, NotDivided):
            return Correction(None, {"moved": 0.0, "left_alone": found.why})
        untouched = _untouched(found.edited)
        levels = after.astype(np.float32)
        toned = levels + _within(fit_tone(after, before, untouched.astype(np.float32)).added(levels), untouched)
        rest = _low(before - toned, untouched, self.options.reach * max(untouched.shape))
        moved = np.clip(np.rint(toned + rest), 0, 255).astype(np.uint8)
        record = {
            "moved": round(float(np.abs(moved - levels).mean()), 3),
            "learnt_from": round(float(untouched.mean()), 4),
            "threshold": round(found.threshold, 2),
            "tint": round(found.tint, 2),
        }
        return Correction(None if np.array_equal(moved, after) else moved, record)


def _untouched(edited: Mask) -> Mask:
    side = 2 * round(ROOM * max(edited.shape)) + 1
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    return np.asarray(cv2.dilate(edited.astype(np.uint8), disc) == 0, np.bool_)


def _within(added: Plane, untouched: Mask) -> Plane:
    """The correction limited to its range in the unedited region: no extrapolation to colours of the edit."""
    seen = added[untouched]
    if not seen.size:
        return np.zeros_like(added)
    low, high = np.quantile(seen, (0.005, 0.995), axis=0)
    return np.asarray(np.clip(added, low, high), np.float32)


def _low(difference: Plane, untouched: Mask, sigma: float) -> Plane:
    """The blurred difference of the unedited region, extended into the edit, where it fades out."""
    weight = untouched.astype(np.float32)
    height, width = weight.shape
    # a wide blur needs no full resolution
    factor = min(1.0, 4 / sigma)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    small = cv2.resize(weight, size, interpolation=cv2.INTER_AREA)
    sums = cv2.resize(difference * weight[..., None], size, interpolation=cv2.INTER_AREA)
    small, sums = (
        cv2.GaussianBlur(plane, (0, 0), max(0.5, sigma * factor), borderType=cv2.BORDER_REFLECT)
        for plane in (small, sums)
    )
    field = sums / np.maximum(small, FADING)[..., None]
    return np.asarray(cv2.resize(field, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


def anchor(name: str, **options: Any) -> AnchorEditor:
    """`anchor`: resets colours and low frequencies to those of the input; `anchor(E)`."""
    read = check_document(options, AnchorOptions, where=name)
    of = part_of(name, "of", read.of)
    check_name("anchor", name, [CompositePart(of)])
    return AnchorEditor(name, of, read)


anchor.positional = ("of",)  # type: ignore[attr-defined]  # read by the parser of expressions
