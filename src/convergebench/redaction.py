"""Keys never reach a log, a file or a page: whatever a provider's error or reply repeats of them is blotted out.

Not only as they are: servers also repeat headers in base64, addresses with quoting, and keys in part
(`sk-01****tell`) or cut short.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import quote, quote_plus

SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTHORIZATION|BEARER|COOKIE", re.IGNORECASE)
"""Names of environment variables, settings and headers whose values are secrets."""

SHORTEST = 8
"""Shorter values are no keys, and blotting them out would eat ordinary words."""
PIECE = 12
"""So many characters of a key in a row are blotted out even without the rest."""
_STARS = re.compile(r"[*•●….]{3,}|…")
_WORDLY = re.compile(r"[\w-]")
_TELLING = 4
"""So many characters before or after a row of stars give a key away."""

_remembered: set[str] = set()


def remember(value: str) -> None:
    """Blot this out too: a key that does not stand in the environment, or under a name that does not say so."""
    if len(value) >= SHORTEST:
        _remembered.add(value)


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with every secret of the environment, and every key in use, replaced by `…`."""
    values = {
        part
        for name, value in (os.environ if environment is None else environment).items()
        if SECRET.search(name)
        for part in {value, value.strip()}  # a key pasted with its line end is sent without it
        if len(part) >= SHORTEST
    }
    for form in _all_forms(frozenset(values | _remembered)):
        text = text.replace(form, "…")
    # only of keys in use: values of other variables are often paths, whose parts stand everywhere
    for key in _remembered:
        text = _without_pieces(text, key)
    return _without_masked(text) if _remembered else text


@lru_cache(maxsize=16)
def _all_forms(values: frozenset[str]) -> tuple[str, ...]:
    """Every way in which these may be written, longest first."""
    return tuple(sorted({form for value in values for form in _forms(value)}, key=lambda form: (-len(form), form)))


def _forms(value: str) -> Iterator[str]:
    yield value
    data = value.encode("utf-8", "surrogateescape")  # as environments hold bytes that are no text
    yield from (quote(data, safe=""), quote(data), quote_plus(data), data.hex())
    escaped = json.dumps(value)[1:-1]
    yield from (escaped, escaped.replace("/", "\\/"))
    # in base64 a key looks different by where in its three-byte step it begins (`user:KEY`, `Bearer KEY`); the
    # characters at both ends that depend on the neighbours are left standing
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data).decode()
        core = encoded[-(-8 * before // 6) : 8 * (before + len(data)) // 6]
        yield from (core, core.replace("+", "-").replace("/", "_"))


def _without_pieces(text: str, key: str) -> str:
    """Without any part of a key, in any writing, that is long enough to be no accident."""
    spans: list[tuple[int, int]] = []
    for piece in _pieces(key):
        place = text.find(piece)
        while place >= 0:
            spans.append((place, place + len(piece)))
            place = text.find(piece, place + 1)
    kept: list[str] = []
    end = 0
    for start, stop in sorted(spans):
        if start > end or not kept:
            kept += [text[end:start], "…"]
        end = max(end, stop)
    return "".join([*kept, text[end:]])


@lru_cache(maxsize=64)
def _pieces(key: str) -> tuple[str, ...]:
    """Every `PIECE` characters in a row, in every writing; longer writings have longer pieces."""
    found = set()
    for form in _forms(key):
        length = max(PIECE, PIECE * len(form) // len(key))
        found |= {form[start : start + length] for start in range(len(form) - length + 1)}
    return tuple(sorted(found))


def _without_masked(text: str) -> str:
    """Without keys of which only the ends are shown.

    Looks around stars, and no further than a key is long: replies hold words of a million characters (signatures).
    """
    reach = max(map(len, _remembered)) + 1
    kept: list[str] = []
    end = 0
    for stars in _STARS.finditer(text):
        first, last = stars.span()
        if first < end:
            continue
        head = text[_edge(text, first, -1, max(end, first - reach)) : first]
        tail = text[last : _edge(text, last, 1, min(len(text), last + reach))]
        if _gives_away(head, tail):
            kept += [text[end : _edge(text, first, -1, end)], "…"]
            end = _edge(text, last, 1, len(text))
    return "".join([*kept, text[end:]])


def _edge(text: str, place: int, way: int, bound: int) -> int:
    """Where the word ends that begins here, backwards or forwards."""
    while place != bound and _WORDLY.match(text, min(place, place + way)):
        place += way
    return place


def _gives_away(head: str, tail: str) -> bool:
    return any(
        (len(head) >= _TELLING and key.startswith(head)) or (len(tail) >= _TELLING and key.endswith(tail))
        for key in _remembered
    )
