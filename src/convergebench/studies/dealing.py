"""Which edit types an image gets: those that fit what it shows, dealt evenly, the same on every machine."""

from __future__ import annotations

from hashlib import sha256

from convergebench.edits.taxonomy import Content
from convergebench.types import SourceImage

PEOPLE = frozenset({"person", "people", "man", "woman", "boy", "girl", "child", "face", "baby"})
WRITING = frozenset({"text", "writing", "sign", "poster", "label", "billboard", "letters"})
"""Words in an image's `holds` that settle whether it shows a person, or writing."""


def shows(image: SourceImage, need: Content | None) -> bool | None:
    """Whether an image shows a person or writing, as far as its suite says; None: nobody has said."""
    if need is None:
        return True
    if need == "person" and image.kind == "face":
        return True
    if image.holds is None:
        return None
    words = PEOPLE if need == "person" else WRITING
    held = any(word in words for noun in image.holds for word in noun.lower().split())
    # whoever lists what an image holds names its people, but rarely every line of writing
    return held or (None if need == "text" else False)


def draw(seed: int, *parts: str) -> int:
    """A number that is the same on every machine and in every session."""
    return int.from_bytes(sha256("\0".join([str(seed), *parts]).encode()).digest()[:8], "big")
