"""Replaces the unedited region of the answer by the input's own pixels.

The edited region is found by difference (`region.py`), grown, and blended into the input over a soft border outside it,
so that the edit itself is unchanged. Everywhere else the pixels are exactly the input's.
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
from convergebench.images.frame import Pixels, Plane
from convergebench.types import Editor

VERSION = 1


class PasteBackOptions(Strict):
    """Size and limits of the edited region."""

    of: Any = None
    grow: Annotated[float, Field(ge=0, le=0.2)] = 0.012
    """Margin around the edit, as a share of the longer side, for shadows and soft edges that are fainter."""
    feather: Annotated[float, Field(ge=0, le=0.2)] = 0.015
    """Width of the soft border beyond that margin."""
    tint: Annotated[float, Field(ge=0, le=100)] = 5.0
    """A change of tone of the whole picture above this ΔE counts as the edit, and the answer is left alone."""
    most: Annotated[float, Field(gt=0, le=1)] = 0.6
    """A change of more than this share of the picture counts as an edit of the whole, and is left alone."""


class PasteBackEditor(CorrectedEditor):
    """Returns the input with the edited region pasted in."""

    def __init__(self, name: str, of: Editor, options: PasteBackOptions) -> None:
        values = options.model_dump(exclude={"of"})
        identity = {"of": of.fingerprint, "region": region.VERSION, **values}
        super().__init__(name, ids.fingerprint("paste-back", VERSION, identity), of)
        self.options = options

    def notices(self) -> list[str]:
        """A warning about edits that it mistakes for wear."""
        evenly = (
            "paste-back mistakes an edit of the whole image (blur, sharpen, pixelate) for degradation and undoes it"
        )
        return list(dict.fromkeys([*super().notices(), evenly]))

    def correct(self, after: Pixels, before: Pixels) -> Correction:
        """The edited region of `after` in `before`; records the share of pixels that are the input's."""
        found = divide(after, before, tint=self.options.tint, most=self.options.most)
        if isinstance(found, NotDivided):
            return Correction(None, {"kept": 0.0, "left_alone": found.why})
        weight = self._weight(found.edited)
        kept = float((weight == 0).mean())
        record = {"kept": round(kept, 4), "threshold": round(found.threshold, 2), "tint": round(found.tint, 2)}
        if np.array_equal(after, before):
            return Correction(None, record)
        return Correction(_blend(after, before, weight), record)

    def _weight(self, edited: Mask) -> Plane:
        """Weight of the editor's pixels: 1 in the edit and its margin, falling to 0 over the border."""
        if not edited.any():
            return np.zeros(edited.shape, np.float32)
        longer = max(edited.shape)
        room, border = self.options.grow * longer, self.options.feather * longer
        away = cv2.distanceTransform((~edited).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
        ramp = np.clip((room + border + 1 - away) / (border + 1), 0, 1)
        return np.asarray(ramp * ramp * (3 - 2 * ramp), np.float32)


def _blend(after: Pixels, before: Pixels, weight: Plane) -> Pixels:
    mixed = before + (after.astype(np.float32) - before) * weight[..., None]
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def paste_back(name: str, **options: Any) -> PasteBackEditor:
    """`paste-back`: keeps the untouched region of the input; `paste-back(E)`."""
    read = check_document(options, PasteBackOptions, where=name)
    of = part_of(name, "of", read.of)
    check_name("paste-back", name, [CompositePart(of)])
    return PasteBackEditor(name, of, read)


paste_back.positional = ("of",)  # type: ignore[attr-defined]  # read by the parser of expressions
