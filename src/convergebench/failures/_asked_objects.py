"""Which objects that the detector of `vision` knows an instruction names, and which kinds of them are alike."""

from __future__ import annotations

import re
from functools import cache

_KINDS: tuple[tuple[str, ...], ...] = (
    ("bicycle", "motorcycle"),
    ("car", "bus", "train", "truck"),
    ("airplane", "bird", "kite"),
    ("boat", "surfboard"),
    ("bench", "chair", "couch", "bed"),
    ("cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "teddy bear"),
    ("backpack", "handbag", "suitcase"),
    ("sports ball", "frisbee"),
    ("skis", "snowboard", "skateboard"),
    ("baseball bat", "tennis racket"),
    ("bottle", "wine glass", "cup", "bowl", "vase", "potted plant"),
    ("fork", "knife", "spoon", "scissors", "toothbrush"),
    ("banana", "apple", "orange", "broccoli", "carrot"),
    ("sandwich", "hot dog", "pizza", "donut", "cake"),
    ("tv", "laptop", "cell phone", "remote", "keyboard", "mouse"),
    ("microwave", "oven", "toaster", "sink", "refrigerator", "toilet"),
)
"""Labels that the network takes for one another; every other label is a kind of its own."""
_OTHER_NAMES: dict[str, str] = {
    "person": "people man men woman women boy girl child children kid baby someone pedestrian",
    "bicycle": "bike cyclist",
    "motorcycle": "motorbike scooter",
    "airplane": "plane aeroplane aircraft jet",
    "boat": "ship yacht sailboat",
    "chair": "armchair stool",
    "couch": "sofa",
    "sports ball": "ball football basketball",
    "potted plant": "plant houseplant",
    "vase": "bouquet",
    "cup": "mug teacup",
    "wine glass": "wineglass",
    "dining table": "table desk",
    "tv": "television monitor screen",
    "cell phone": "phone smartphone telephone",
    "refrigerator": "fridge",
    "cat": "kitten",
    "dog": "puppy",
    "bird": "parrot pigeon duck gull",
    "cow": "cattle bull",
    "horse": "pony",
    "tie": "necktie",
    "handbag": "purse",
    "donut": "doughnut",
    "umbrella": "parasol",
    "truck": "lorry",
    "suitcase": "luggage",
}
_PLACE = re.compile(
    r"\b(?:on|in|into|onto|inside|at|from|near|beside|behind|under|above|over|between|next to|off|around|to)\b",
    re.IGNORECASE,
)


@cache
def category_of(label: str) -> str:
    """One name for all labels that are taken for this one."""
    return next((kind[0] for kind in _KINDS if label in kind), label)


@cache
def asked_labels(instruction: str) -> frozenset[str]:
    """The labels of the objects that an instruction names, places left out ("on the table" asks for no table)."""
    before_place = _PLACE.split(instruction, maxsplit=1)[0]
    return _named_in(before_place) or _named_in(instruction)


def _named_in(text: str) -> frozenset[str]:
    lower = text.lower()
    return frozenset(label for name, label in _names() if re.search(rf"\b{re.escape(name)}(?:e?s)?\b", lower))


@cache
def _names() -> tuple[tuple[str, str], ...]:
    """Every name and its label."""
    from convergebench.vision.objects import COCO_LABELS

    others = [(name, label) for label, names in _OTHER_NAMES.items() for name in names.split()]
    return *((label, label) for label in COCO_LABELS), *others
