"""The measuring detector: whether a picture shows a person and writing, by small networks for faces and for text.

It answers `find-content`. A person counts if a face is found that is large enough to be edited, writing if lines can be
read that are long enough to be words and not a pattern that looks like letters. It names nothing else in the picture.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from convergebench.errors import StudyError
from convergebench.ids import canonical, fingerprint
from convergebench.roles.base import Answered, Role
from convergebench.roles.tables import RoleTable
from convergebench.types import Limits

if TYPE_CHECKING:
    from convergebench.images.frame import Frame
    from convergebench.vision.objects import PixelBox

NAME = "measuring detector"
VERSION = 1
"""Raised whenever its answer about the same picture would change."""
RUBRIC = "find-content"
WEIGHTS = ("human-models", "ppocr-v4")
LONGEST = 1024
"""Pixels of the longer side at which pictures are looked at; larger ones are reduced."""
FACE = 0.05
"""Least height of a face, as a share of the picture's shorter side."""
SURE_OF_FACE = 0.8
"""Least confidence of the landmark network."""
ANIMALS = frozenset(
    {"bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "teddy bear"}
)
"""What faces are not counted on, unless a person is found there too."""
LETTERS = 4
"""Fewest letters of a line that is taken for writing."""
SURE_OF_TEXT = 0.8
"""Least confidence of the reader."""


class MeasuringDetector(Role):
    """Answers `find-content`, always the same for the same picture."""

    about = f"{NAME}: networks for faces and for text, no understanding"

    def __init__(self, table: RoleTable | None = None) -> None:
        used = {"face": [FACE, SURE_OF_FACE], "text": [LETTERS, SURE_OF_TEXT], "longest": LONGEST, "weights": WEIGHTS}
        self.fingerprint = fingerprint("measuring-detector", VERSION, used)
        self.limits = Limits(at_once=os.cpu_count() or 1)
        if table is not None and table.rubrics:
            raise StudyError(f'the {NAME} does not use rubrics; they need kind = "served"')

    def ready(self) -> None:
        """The networks must be here."""
        from convergebench.roles.edit_judge.subjects import require_networks

        require_networks()

    def require(self, rubric: str) -> None:
        """Only its own rubric."""
        if rubric != RUBRIC:
            raise StudyError(f"the {NAME} does not answer '{rubric}' (only {RUBRIC}); use a role of kind = \"served\"")

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        """What was found."""
        self.require(payload["rubric"])
        value = await asyncio.to_thread(_content, images[0])
        return Answered(value, canonical(value), NAME)


def _content(data: bytes) -> dict[str, Any]:
    from convergebench.images.decode import decode
    from convergebench.roles.edit_judge.evidence import scaled

    try:
        frame = decode(data, what="the picture of the question", alpha="white")
    except StudyError as error:
        return {"person": 0.0, "text": 0.0, "seen": str(error)}
    small = scaled(frame, LONGEST / max(frame.size))
    faces, words = find_persons(small), find_writing(small)
    seen = [f"faces: {faces}" if faces else "no face", f"writing: {' '.join(words)}" if words else "no writing"]
    return {"person": float(faces > 0), "text": float(bool(words)), "seen": "; ".join(seen)[:500]}


def find_persons(frame: Frame) -> int:
    """How many faces are large and sure enough, and not those of animals."""
    import numpy as np

    from convergebench.vision.faces import find_faces
    from convergebench.vision.objects import detect_objects

    pixels = np.ascontiguousarray(frame.pixels)
    least = FACE * min(frame.size)
    faces = [face for face in find_faces(pixels) if face.box.height >= least and face.confidence >= SURE_OF_FACE]
    things = detect_objects(pixels) if faces else []

    def on(box: PixelBox, labels: Collection[str]) -> bool:
        x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        there = [one.box for one in things if one.label in labels]
        return any(one.left <= x <= one.right and one.top <= y <= one.bottom for one in there)

    return sum(on(face.box, ("person",)) or not on(face.box, ANIMALS) for face in faces)


def find_writing(frame: Frame) -> list[str]:
    """The lines that are long and sure enough."""
    from convergebench.metrics.semantic._ocr import lines
    from convergebench.metrics.semantic.text_kept import letters

    return [
        line.text
        for line in lines(frame)
        if line.score >= SURE_OF_TEXT and sum(sign.isalnum() for sign in letters(line.text)) >= LETTERS
    ]
