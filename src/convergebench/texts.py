"""Words of strangers (servers, plug-ins, received runs) as they can be stored and shown."""

from __future__ import annotations

LONGEST = 200
"""Characters of one setting or name that are shown: a stranger's words may be of any length."""


def storable(text: str) -> str:
    """Without halves of characters, which JSON can carry and no file can hold: each becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def printable(text: str) -> str:
    """Without line breaks and the codes by which a terminal is told to do things."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def short_line(value: object) -> str:
    """One line of bounded length."""
    text = printable(str(value)[: LONGEST + 1])
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
