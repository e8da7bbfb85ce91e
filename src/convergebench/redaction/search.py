"""Finding secrets in a reading of a text: whole, or any part of one that is long enough to be no accident."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from convergebench.redaction.views import Span, views

PIECE = 8
"""So many characters of a key in a row are found even without the rest."""
GRAM = 4
"""Characters by which places are found where a part of a key may stand."""
TELLING = 4
"""So many characters after its public beginning give a part of a key away."""
PLACES = 32
"""The most places of a key that one gram is tried at; more has only a key such as `aaaa…`."""
PUBLIC = (
    b"sk-ant-admin01-", b"sk-ant-api03-", b"sk-ant-oat01-", b"github_pat_", b"sk-svcacct-", b"sk-or-v1-", b"sk-admin-",
    b"sk-proj-", b"sk-live-", b"sk-test-", b"r8_", b"hf_", b"xai-", b"sk-", b"aiza",
)  # fmt: skip
"""How providers begin their keys, which everybody knows, in small letters."""


class Needle(NamedTuple):
    """A key in use, in small letters, forwards or backwards; `told` are the bytes of it that are no public words."""

    data: bytes
    told: Span


class Needles:
    """Everything that is looked for."""

    def __init__(self, whole: frozenset[bytes], keys: frozenset[bytes]) -> None:
        """`whole`: values of which parts are ordinary words, looked for as a whole; `keys`: keys in use."""
        self.ascii_only = all(one.isascii() for one in whole | keys)
        # an escape that begins in the text around it would take away the beginning of a value in an address
        forms = {form for one in whole - keys for form in (one, quote(one, safe="").encode(), quote(one).encode())}
        self._whole = {way for form in forms for way in (form.lower(), form.lower()[::-1])}
        self._grams: dict[bytes, list[tuple[Needle, int]]] = {}
        for key in sorted(keys | {bare for key in keys if len(bare := _bare(key)) >= PIECE}):
            for needle in _both_ways(key.lower()):
                for place in range(len(needle.data) - GRAM + 1):
                    places = self._grams.setdefault(needle.data[place : place + GRAM], [])
                    if len(places) < PLACES:
                        places.append((needle, place))

    def __bool__(self) -> bool:
        return bool(self._whole or self._grams)

    def find(self, data: bytes) -> Iterator[Span]:
        """Where something of it stands; spans may overlap."""
        small = data.lower()
        for value in self._whole:
            place = small.find(value)
            while place >= 0:
                yield place, place + len(value)
                place = small.find(value, place + 1)
        grams, end = self._grams, 0
        if not grams:
            return
        # any PIECE bytes in a row hold GRAM bytes that begin at a multiple of this step
        step = PIECE - GRAM + 1
        for place in [at for at in range(0, len(small) - GRAM + 1, step) if small[at : at + GRAM] in grams]:
            if place + GRAM <= end:
                continue
            for needle, at in grams[small[place : place + GRAM]]:
                found = _grown(small, place, needle, at)
                if found is not None:
                    end = max(end, found[1])
                    yield found


@lru_cache(maxsize=16)
def needles(whole: frozenset[bytes], keys: frozenset[bytes]) -> Needles:
    """Made once for the same secrets."""
    return Needles(whole, keys)


def spans(data: bytes, wanted: Needles) -> list[Span] | None:
    """Where secrets stand in a text, in order and apart; None if it can be read in more ways than can be looked at."""
    found: list[Span] = []
    for view in views(data, ascii_only=wanted.ascii_only):
        if view is None:
            return None
        found += [view.original(*span) for span in wanted.find(view.data)]
    apart: list[Span] = []
    for start, stop in sorted(found):
        if apart and start <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(apart[-1][1], stop)
        else:
            apart.append((start, stop))
    return apart


def _bare(key: bytes) -> bytes:
    """Letters and digits alone, as they stand in a squeezed reading."""
    return bytes(code for code in key if code > 127 or chr(code).isalnum())


def _both_ways(key: bytes) -> tuple[Needle, Needle]:
    public = next((len(words) for words in (*PUBLIC, *map(_bare, PUBLIC)) if key.startswith(words)), 0)
    if len(key) - public < PIECE:
        public = 0
    return Needle(key, (public, len(key))), Needle(key[::-1], (0, len(key) - public))


def _grown(text: bytes, place: int, needle: Needle, at: int) -> Span | None:
    """The longest part of the key around this place, if it is long enough."""
    key, (first, last) = needle
    before = 0
    while before < min(at, place) and key[at - before - 1] == text[place - before - 1]:
        before += 1
    after, most = GRAM, min(len(key) - at, len(text) - place)
    while after < most and key[at + after] == text[place + after]:
        after += 1
    told = min(at + after, last) - max(at - before, first)
    if before + after < min(PIECE, len(key)) or told < TELLING:
        return None
    return place - before, place + after
