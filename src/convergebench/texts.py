"""Untrusted text (from servers, plug-ins, received runs) made safe to store and to show."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 200
"""Most characters of an untrusted setting or name that are shown."""
_CONTROL_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Unicode categories: control characters, lone surrogates, line and paragraph separators."""
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the text direction and so can disguise what follows."""

_VERY_LONG_WORD = re.compile(r"(\S{200})\S{4000,}")
"""A word longer than any path, which would flood the screen."""


def storable(text: str) -> str:
    """With each lone surrogate replaced by a question mark: JSON can carry them, UTF-8 files cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


def printable(text: str) -> str:
    """Without line breaks and terminal control codes."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def short_line(value: object) -> str:
    """The value as one line of at most `LONGEST` characters."""
    text = printable(str(value)[: LONGEST + 1])
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def escaped(text: str) -> str:
    """With every control character escaped as in JSON; line breaks stay."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(character if character == "\n" else _escaped(character) for character in text)


def one_line(text: str) -> str:
    """Escaped and without line breaks, except before indented list items."""
    return re.sub(r"\n(?!  \S)", " ", escaped(_VERY_LONG_WORD.sub(r"\1…", text)))


def plain_line(text: str) -> str:
    """One line with single spaces, without control characters and changes of the text direction."""
    return " ".join("".join(" " if _is_control(character) else character for character in text).split())


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in _CONTROL_CATEGORIES or character in _BIDI_CONTROLS


def _escaped(character: str) -> str:
    if _is_control(character):
        return " " if character == "\t" else f"\\u{ord(character):04x}"
    return character
