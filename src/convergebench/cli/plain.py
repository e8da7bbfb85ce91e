"""Text from elsewhere on a terminal: names in other people's sets may hold line breaks and codes that steer it."""

from __future__ import annotations

import re
import unicodedata

_STEERING = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Unicode's groups of control characters, halves of characters, and breaks of lines and paragraphs."""
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""These turn the direction of what follows, so that it reads as something else."""

_ENDLESS = re.compile(r"(\S{200})\S{4000,}")
"""A word longer than any path: whoever wrote it into a run or a file wanted to fill the screen."""


def plain(text: str) -> str:
    """Every control character by its number, as JSON writes it; line breaks of our own tables stay."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(character if character == "\n" else _shown(character) for character in text)


def one_line(text: str) -> str:
    """The same without line breaks, whatever is in it; only lists that we indent ourselves stay below each other."""
    return re.sub(r"\n(?!  \S)", " ", plain(_ENDLESS.sub(r"\1…", text)))


def _shown(character: str) -> str:
    if unicodedata.category(character) in _STEERING or character in _TURNING:
        return " " if character == "\t" else f"\\u{ord(character):04x}"
    return character
