"""What a step of the studio gives back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from convergebench.editors.instructions.vocabulary import Colour
from convergebench.editors.simulated.pixels import Pixels, pixels_of
from convergebench.editors.simulated.regions import Soft
from convergebench.vision.networks import Mask


@dataclass(frozen=True, eq=False, slots=True)
class StudioAnswer:
    """The new picture, where it was changed, and what was found and used, for the record."""

    pixels: Pixels
    where: Mask | None = None
    """None: everywhere."""
    facts: dict[str, object] = field(default_factory=dict)
    added: str = ""
    """A thing that is new in the image, by its name; later instructions may call it `it`."""
    colour: Colour | None = None
    moved: bool = False
    """Whether pixels are elsewhere than before, so that places known from earlier steps no longer hold."""


def mixed(before: Pixels, after: Pixels, amount: Soft) -> Pixels:
    """The picture as it is after where `amount` is 1, as before where it is 0."""
    part = before.astype(np.float32)
    return pixels_of(np.rint(np.clip(part + (after.astype(np.float32) - part) * amount[..., None], 0, 255)))
