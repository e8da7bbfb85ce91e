"""Recognise flips and quarter turns in an English instruction."""

from __future__ import annotations

import re
from typing import Literal, get_args

Geometry = Literal["flip-horizontal", "flip-vertical", "rotate-90", "rotate-180", "rotate-270"]
GEOMETRY: tuple[Geometry, ...] = get_args(Geometry)


def plain_words(instruction: str) -> str:
    """The instruction in lower case, with single spaces and no punctuation; `°` becomes `degrees`."""
    words = instruction.lower().replace("’", "'").replace("°", " degrees ").replace("'s ", " ")
    words = re.sub(r"\btake (the|her|his|their|all) (.+?) (off|away|out)\b", r"take \3 \1 \2", words)
    words = re.sub(r"[.,;:!?()\"]", " ", words)
    return re.sub(r"\s+", " ", words).strip()


def geometry_of(words: str) -> Geometry | None:
    """The flip or turn (`rotate-90` is clockwise) that the `plain_words` of an instruction request; None if neither."""
    if re.search(r"\b(flip|mirror|mirrored|reflect)\b", words) and not re.search(r"\ba mirror\b(?! image)", words):
        vertical = re.search(r"\bvertically\b|top (to|and) bottom|\bhorizontal axis\b|\bupside\b", words)
        return "flip-vertical" if vertical else "flip-horizontal"
    if not re.search(r"\b(rotate|rotating|turn|spin)\b", words):
        return None
    if re.search(r"\b180\b|\bhalf (a )?turn\b|\bupside down\b", words):
        return "rotate-180"
    backwards = bool(re.search(r"counter|anti-?clock|\bto the left\b|\bleftwards?\b", words))
    if re.search(r"\b270\b|\bthree quarter", words):
        backwards = not backwards
    elif not re.search(r"\b90\b|\bquarter\b|\bninety\b", words):
        return None
    return "rotate-270" if backwards else "rotate-90"
