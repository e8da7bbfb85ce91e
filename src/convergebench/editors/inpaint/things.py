"""The objects that this editor knows: how it sees each of them in a picture, and where each belongs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from convergebench.vision.face_parts import FacePart

Where = Literal["ground", "air", "eyes", "head", "ears", "neck"]


@dataclass(frozen=True, slots=True)
class KnownThing:
    """One kind of object."""

    labels: tuple[str, ...] = ()
    """What the object detector calls it; a small network confuses kinds that look alike."""
    part: FacePart | None = None
    """The part of a face that it is, if it is worn."""
    round: bool = False
    """May also be found as a round patch of the colour that the instruction names."""
    where: Where = "ground"
    shares: tuple[float, float] = (0.16, 0.5)
    """Least and greatest height, as a share of the picture's height."""


THINGS: dict[str, KnownThing] = {
    "glasses": KnownThing(part="glasses", where="eyes"),
    "sunglasses": KnownThing(part="glasses", where="eyes"),
    "hat": KnownThing(part="hat", where="head"),
    "cap": KnownThing(part="hat", where="head"),
    "earrings": KnownThing(part="earring", where="ears"),
    "necklace": KnownThing(part="necklace", where="neck"),
    "chair": KnownThing(("chair", "couch", "bench"), shares=(0.3, 0.5)),
    "ball": KnownThing(("sports ball", "orange", "apple", "frisbee"), round=True, shares=(0.14, 0.3)),
    "balloon": KnownThing(("kite", "sports ball"), round=True, where="air", shares=(0.3, 0.5)),
    "plant": KnownThing(("potted plant", "vase"), shares=(0.24, 0.45)),
    "vase": KnownThing(("vase", "potted plant"), shares=(0.24, 0.45)),
    "cup": KnownThing(("cup", "bowl"), shares=(0.16, 0.3)),
    "bottle": KnownThing(("bottle", "vase"), shares=(0.24, 0.45)),
    "cat": KnownThing(("cat",), shares=(0.24, 0.4)),
    "dog": KnownThing(("dog",), shares=(0.26, 0.45)),
    "book": KnownThing(("book",)),
    "umbrella": KnownThing(("umbrella",)),
    "tie": KnownThing(("tie",)),
    "bow tie": KnownThing(("tie",)),
    "clock": KnownThing(("clock",)),
    "bird": KnownThing(("bird",)),
    "apple": KnownThing(("apple",), round=True),
    "orange": KnownThing(("orange",), round=True),
    "banana": KnownThing(("banana",)),
}
"""By the names of the vocabulary. Some can be removed but not added, because there is no cut-out of them."""

HEIGHTS: dict[str, float] = {
    "person": 1.7, "chair": 0.85, "couch": 0.85, "bench": 0.85, "dining table": 0.75, "car": 1.5, "bus": 3.0,
    "truck": 2.8, "bicycle": 1.05, "motorcycle": 1.1, "dog": 0.55, "cat": 0.35, "horse": 1.6, "cow": 1.4, "sheep": 0.9,
    "bottle": 0.28, "cup": 0.1, "wine glass": 0.2, "potted plant": 0.45, "vase": 0.3, "laptop": 0.24, "book": 0.2,
    "bowl": 0.08, "refrigerator": 1.75, "bird": 0.2, "suitcase": 0.6, "backpack": 0.5,
}  # fmt: skip
"""Usual heights in metres of what the detector finds, to tell the scale of a scene."""
