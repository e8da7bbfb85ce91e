"""Guess whether a picture is a face, an object or a scene, for data sets that do not state it.

The heuristics use what a data set has: COCO's boxes, a subject ('human', 'plant'), or an instruction's words. None of
them opens a picture; for exact kinds, put a `kinds.csv` into a folder of images.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from convergebench.types import Kind

FACE_SHARE = 0.15
OBJECT_SHARE = 0.20

_SUBJECTS: Mapping[str, Kind] = {
    "human": "face",
    "person": "face",
    "people": "face",
    "portrait": "face",
    "animal": "object",
    "plant": "object",
    "object": "object",
    "daily object": "object",
    "transport": "object",
    "clothes": "object",
    "food": "object",
    "scenery": "scene",
    "architecture": "scene",
    "indoor": "scene",
    "outdoor": "scene",
}
_FACE_WORDS = re.compile(
    r"\b(faces?|hair|beard|moustache|mustache|eyes?|lips|smil\w*|glasses|sunglasses|earrings?|necklace|portrait"
    r"|m[ae]n|wom[ae]n|boys?|girls?|child|children|kids?|baby|lady|guy|person|people|player|his|her)\b",
    re.IGNORECASE,
)
_SCENE_WORDS = re.compile(
    r"\b(background|sky|clouds?|sun|sunset|night|day|street|road|city|buildings?|house|room|kitchen|wall|floor|ceiling"
    r"|window|beach|sea|ocean|lake|river|water|mountains?|hills?|forest|trees?|field|garden|park|grass|snow|rain"
    r"|weather|landscape|scene|ground)\b",
    re.IGNORECASE,
)
_GROUPS = (
    ("remove", re.compile(r"\b(remove|delete|erase|take (away|off|out)|get rid|without)\b", re.IGNORECASE)),
    ("replace", re.compile(r"\b(replace|swap|instead|turn .* into|into an?)\b", re.IGNORECASE)),
    ("add", re.compile(r"\b(add|put|place|insert|give|let there be|have .* (wear|hold))\b", re.IGNORECASE)),
    ("colour", re.compile(r"\b(colou?r|red|green|blue|yellow|black|white|pink|purple|orange|brown)\b", re.IGNORECASE)),
)


class AnnotatedBox(NamedTuple):
    """One annotated object: its category and the share of the picture it covers."""

    category: str
    share: float
    face_seen: bool | None = None
    """From key points: nose and both eyes visible. None: no key points."""


def kind_from_boxes(boxes: Iterable[AnnotatedBox]) -> Kind:
    """The kind of a picture with annotated boxes, as COCO has them.

    A person over 15 % of the picture (with a visible face, if key points are given) makes a face; else one object
    over 20 % without any person makes an object; everything else is a scene.
    """
    boxes = list(boxes)
    people = [box for box in boxes if box.category == "person"]
    if any(box.share >= FACE_SHARE and box.face_seen is not False for box in people):
        return "face"
    if not people and any(box.share >= OBJECT_SHARE for box in boxes):
        return "object"
    return "scene"


def kind_from_subject(subject: str) -> Kind | None:
    """The kind of a data set's subject; None if the subject is unknown."""
    return _SUBJECTS.get(subject.strip().lower().replace("_", " "))


def kind_from_instruction(instruction: str) -> Kind:
    """The kind by an instruction's words: about people, else about places, else object."""
    if _FACE_WORDS.search(instruction):
        return "face"
    return "scene" if _SCENE_WORDS.search(instruction) else "object"


def group_from_instruction(instruction: str) -> str:
    """The type of edit an instruction requests: remove, replace, add, colour or other."""
    return next((name for name, words in _GROUPS if words.search(instruction)), "other")
