"""What little is read from an instruction: a side of the picture, and the direction of a change of light or colour.

These are word lists, not understanding. An instruction without such words, or with opposite ones, gives no direction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_OF_PICTURE = r"(?! of (?!the (?:picture|image|frame|photo|scene)))"
"""Sides of other things (`the left side of the table`) say nothing about the picture's."""
_PART = r"(?:hand side|hand|side|corner|half|third|edge|foreground|background)"
_SIDE = re.compile(
    rf"\b(?:on|to|at|in|from) the (?:far |very |upper |lower |top |bottom )?(left|right)\b(?! of)(?![- ]{_PART})"
    rf"|\b(left|right)[- ]{_PART}\b{_OF_PICTURE}"
)
_LEVEL = re.compile(
    r"\b(upper|top|lower|bottom)[- ](?:left|right|half|part|corner|third|edge)\b"
    rf"|\b(?:at|in|near) the (top|bottom|foreground|sky)\b{_OF_PICTURE}"
)
_UPPER = frozenset({"upper", "top", "sky"})
_WORD = re.compile(r"[a-z]+")

DIRECTIONS: Mapping[str, Mapping[str, int]] = {
    "b": {
        **dict.fromkeys(("warm", "warmer", "warmth", "golden", "amber", "sepia", "autumn", "sunset"), 1),
        **dict.fromkeys(("candlelight", "yellowish", "sunrise", "tungsten"), 1),
        **dict.fromkeys(("cool", "cooler", "cold", "colder", "bluish", "teal", "icy", "moonlight"), -1),
        **dict.fromkeys(("winter", "wintry", "snowy", "snow", "fluorescent", "overcast", "foggy", "fog"), -1),
    },
    "lightness": {
        **dict.fromkeys(("night", "dusk", "dark", "darker", "stormy", "moonlight", "rain", "rainy", "dim"), -1),
        **dict.fromkeys(("bright", "brighter", "sunny", "snowy", "snow", "foggy", "fog", "midday"), 1),
    },
    "chroma": {
        **dict.fromkeys(("monochrome", "sketch", "pencil", "charcoal", "ink", "faded", "desaturated"), -1),
        **dict.fromkeys(("fog", "foggy", "overcast"), -1),
        **dict.fromkeys(("vivid", "vibrant", "saturated", "colourful", "colorful"), 1),
    },
}
"""Quantity → words that ask for more of it (1) or less (−1); names of colours are left out, since things have them."""


class NamedSide(NamedTuple):
    """A side of the picture: −1 left or up, 1 right or down, 0 not said."""

    across: int
    down: int


def asked_place(instruction: str) -> NamedSide:
    """The side that the words name; not said where both sides are named."""
    text = instruction.lower()
    across = {-1 if "left" in match.groups() else 1 for match in _SIDE.finditer(text)}
    down = {-1 if _UPPER.intersection(match.groups()) else 1 for match in _LEVEL.finditer(text)}
    return NamedSide(_only(across), _only(down))


def asked_direction(instruction: str) -> dict[str, int]:
    """Quantity → 1 or −1, for those that the words ask to raise or to lower."""
    words = set(_WORD.findall(instruction.lower()))
    found = {name: {sign for word, sign in table.items() if word in words} for name, table in DIRECTIONS.items()}
    return {name: _only(signs) for name, signs in found.items() if _only(signs)}


def mentions(instruction: str, *beginnings: str) -> bool:
    """Whether a word begins with one of these."""
    return any(word.startswith(beginnings) for word in _WORD.findall(instruction.lower()))


def _only(signs: set[int]) -> int:
    return next(iter(signs)) if len(signs) == 1 else 0
