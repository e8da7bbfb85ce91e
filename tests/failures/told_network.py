"""A stand-in for the object detector, so that a test says what is seen in which picture, and how surely."""

from __future__ import annotations

from dataclasses import dataclass, field

from convergebench.failures._objects import SeenObject
from convergebench.failures.base import Box
from convergebench.images.frame import Frame, Pixels


@dataclass
class ToldNetwork:
    """Sees in a picture what it was told is there; nothing in pictures that it was not told about."""

    seen: dict[bytes, list[SeenObject]] = field(default_factory=dict)

    def shows(self, pixels: Pixels, *objects: tuple[str, float, Box]) -> Pixels:
        self.seen[pixels.tobytes()] = [SeenObject(*one) for one in objects]
        return pixels

    def __call__(self, frame: Frame) -> tuple[SeenObject, ...]:
        return tuple(self.seen.get(frame.pixels.tobytes(), ()))
