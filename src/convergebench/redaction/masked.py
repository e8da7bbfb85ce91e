"""Keys of which a server shows only the ends: `sk-01****tell`."""

from __future__ import annotations

import re
from collections.abc import Collection

TELLING = 4
"""So many characters before or after a row of stars give a key away."""
_STARS = re.compile(r"[*•●….]{3,}|…")
_WORDLY = re.compile(r"[\w-]")


def without_masked(text: str, keys: Collection[str]) -> str:
    """Without keys of which only the ends are shown.

    Looks around stars, and no further than a key is long: replies hold words of a million characters (signatures).
    """
    reach = max(map(len, keys)) + 1
    kept: list[str] = []
    end = 0
    for stars in _STARS.finditer(text):
        first, last = stars.span()
        if first < end:
            continue
        head = text[_edge(text, first, -1, max(end, first - reach)) : first]
        tail = text[last : _edge(text, last, 1, min(len(text), last + reach))]
        if _gives_away(head, tail, keys):
            kept += [text[end : _edge(text, first, -1, end)], "…"]
            end = _edge(text, last, 1, len(text))
    return "".join([*kept, text[end:]])


def _edge(text: str, place: int, way: int, bound: int) -> int:
    """Where the word ends that begins here, backwards or forwards."""
    while place != bound and _WORDLY.match(text, min(place, place + way)):
        place += way
    return place


def _gives_away(head: str, tail: str, keys: Collection[str]) -> bool:
    return any(
        (len(head) >= TELLING and key.startswith(head)) or (len(tail) >= TELLING and key.endswith(tail)) for key in keys
    )
