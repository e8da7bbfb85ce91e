"""Scratch repair: thin marks and dust are found and filled from their surroundings (Telea 2004, or Bertalmio 2001)."""

from __future__ import annotations

from typing import Annotated, Literal

import cv2
import numpy as np
from pydantic import Field

from convergebench.documents import Strict
from convergebench.editors.classical.answer import ClassicalAnswer
from convergebench.editors.classical.scratches import ScratchSizes, find_damage
from convergebench.images.frame import Pixels

MOST = 0.12
"""Share of the picture from which on what was found is texture, not damage: nothing is filled then."""
_METHODS = {"telea": cv2.INPAINT_TELEA, "navier-stokes": cv2.INPAINT_NS}


class ScratchInpaintOptions(Strict):
    """What counts as damage, and how it is filled."""

    sensitivity: Annotated[float, Field(ge=0.2, le=5)] = 1.0
    """Above 1: fainter marks are found too, and more of the picture is taken for them."""
    fill: Literal["telea", "navier-stokes"] = "telea"


def scratch_inpaint(pixels: Pixels, options: ScratchInpaintOptions, *, noise: float | None = None) -> ClassicalAnswer:
    """The picture without its scratches and dust; `noise` as it was before denoising."""
    damage = find_damage(pixels, options.sensitivity, noise=noise)
    share = float(damage.mean())
    used = {"damaged": round(share, 5)}
    if not share or share > MOST:
        return ClassicalAnswer(pixels, used)
    # a mark's own soft edge would otherwise be spread over the hole
    width = ScratchSizes.of(pixels).width
    hole = cv2.dilate(damage.astype(np.uint8), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3)))
    filled = cv2.inpaint(pixels, hole, width, _METHODS[options.fill])
    return ClassicalAnswer(np.asarray(filled, np.uint8), used)
