"""Keep what was not asked to change: the untouched region of the answer is replaced by the input's own pixels.

The edited region is found by difference (`region.py`), grown, and blended into the input over a soft border that lies
outside it, so that the edit itself comes from the editor whole. Everywhere else the pixels are the input's, exactly.
"""

from __future__ import annotations

from typing import Annotated, Any

import cv2
import numpy as np
from pydantic import Field

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.made import region
from convergebench.editors.made.base import Part, check_name, part_of
from convergebench.editors.made.pixels import Corrected, CorrectedEditor
from convergebench.editors.made.region import Mask, Whole, divide
from convergebench.images.frame import Pixels, Plane
from convergebench.types import Editor

VERSION = 1


class Options(Strict):
    """How much is kept."""

    of: Any = None
    grow: Annotated[float, Field(ge=0, le=0.2)] = 0.012
    """Room around the edit, as a share of the longer side: shadows and soft rims are fainter than the edit."""
    feather: Annotated[float, Field(ge=0, le=0.2)] = 0.015
    """Width of the soft border beyond that room."""
    tint: Annotated[float, Field(ge=0, le=100)] = 5.0
    """ΔE from which on a change of tone all over the picture counts as the edit, and the answer is left alone."""
    most: Annotated[float, Field(gt=0, le=1)] = 0.6
    """Share of the picture from which on a change counts as an edit of the whole, and the answer is left alone."""


class PasteBack(CorrectedEditor):
    """Returns the edited region in the input's untouched surroundings."""

    def __init__(self, name: str, of: Editor, options: Options) -> None:
        values = options.model_dump(exclude={"of"})
        identity = {"of": of.fingerprint, "region": region.VERSION, **values}
        super().__init__(name, ids.fingerprint("paste-back", VERSION, identity), of)
        self.options = options

    def notices(self) -> list[str]:
        """What it cannot tell from wear."""
        evenly = (
            "paste-back takes an edit that lies evenly over a picture (blur, sharpen, pixelate) for wear and undoes it"
        )
        return list(dict.fromkeys([*super().notices(), evenly]))

    def correct(self, after: Pixels, before: Pixels) -> Corrected:
        """The edited region of `after` in `before`; told: the share of pixels that are the input's."""
        found = divide(after, before, tint=self.options.tint, most=self.options.most)
        if isinstance(found, Whole):
            return Corrected(None, {"kept": 0.0, "left_alone": found.why})
        weight = self._weight(found.edited)
        kept = float((weight == 0).mean())
        told = {"kept": round(kept, 4), "threshold": round(found.threshold, 2), "tint": round(found.tint, 2)}
        if np.array_equal(after, before):
            return Corrected(None, told)
        return Corrected(_blend(after, before, weight), told)

    def _weight(self, edited: Mask) -> Plane:
        """How much of each pixel is the editor's: 1 in the edit and its room, falling to 0 over the border."""
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


def paste_back(name: str, **options: Any) -> PasteBack:
    """`paste-back`: keeps the untouched region of the input; `paste-back(E)`."""
    read = check_document(options, Options, where=name)
    of = part_of(name, "of", read.of)
    check_name("paste-back", name, [Part(of)])
    return PasteBack(name, of, read)


paste_back.positional = ("of",)  # type: ignore[attr-defined]  # read by the parser of expressions
