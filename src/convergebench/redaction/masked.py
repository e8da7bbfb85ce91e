"""Keys that a server has masked, showing only their ends: `sk-01****tell`."""

from __future__ import annotations

import re
from collections.abc import Collection

ENOUGH = 4
"""Characters before or after a row of stars that are enough to recognise a key."""
_STARS = re.compile(r"[*•●….]{3,}|…")
_WORD_CHARACTER = re.compile(r"[\w-]")


def without_masked(text: str, keys: Collection[str]) -> str:
    """Replace masked keys. The search around stars is limited, as replies hold words of a million characters."""
    reach = max(map(len, keys)) + 1
    kept: list[str] = []
    end = 0
    for stars in _STARS.finditer(text):
        first, last = stars.span()
        if first < end:
            continue
        head = text[_end_of_word(text, first, -1, max(end, first - reach)) : first]
        tail = text[last : _end_of_word(text, last, 1, min(len(text), last + reach))]
        if _reveals(head, tail, keys):
            kept += [text[end : _end_of_word(text, first, -1, end)], "…"]
            end = _end_of_word(text, last, 1, len(text))
    return "".join([*kept, text[end:]])


def _end_of_word(text: str, position: int, step: int, bound: int) -> int:
    """The end of the word around `position`, in the direction of `step`."""
    while position != bound and _WORD_CHARACTER.match(text, min(position, position + step)):
        position += step
    return position


def _reveals(head: str, tail: str, keys: Collection[str]) -> bool:
    return any(
        (len(head) >= ENOUGH and key.startswith(head)) or (len(tail) >= ENOUGH and key.endswith(tail)) for key in keys
    )
