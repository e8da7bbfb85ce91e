"""Search for secrets in one view of a text: whole, or parts that are too long to match by chance."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from convergebench.redaction.views import Span, views

SHORTEST_PART = 8
"""Shortest part of a key that is found without the rest."""
GRAM = 4
"""Length of the character sequences that index the keys."""
LEAST_SECRET = 4
"""Characters beyond the public prefix that a match must have."""
MOST_POSITIONS = 32
"""Most positions of a key that one gram is tried at; only keys such as `aaaa…` have more."""
PREFIXES = (
    b"sk-ant-admin01-", b"sk-ant-api03-", b"sk-ant-oat01-", b"github_pat_", b"sk-svcacct-", b"sk-or-v1-", b"sk-admin-",
    b"sk-proj-", b"sk-live-", b"sk-test-", b"r8_", b"hf_", b"xai-", b"sk-", b"aiza",
)  # fmt: skip
"""Public prefixes of providers' keys, in lower case."""


class SecretPattern(NamedTuple):
    """A key in use, in lower case, forwards or backwards; `secret` is the part that is no public prefix."""

    data: bytes
    secret: Span


class SecretPatterns:
    """All secrets to search for."""

    def __init__(self, whole: frozenset[bytes], keys: frozenset[bytes]) -> None:
        """`whole`: values that are searched only as a whole; `keys`: keys in use, of which parts are found too."""
        self.ascii_only = all(value.isascii() for value in whole | keys)
        # in an address, an escape in front of the value could swallow its first characters
        forms = {form for data in whole - keys for form in (data, quote(data, safe="").encode(), quote(data).encode())}
        self._whole = {direction for form in forms for direction in (form.lower(), form.lower()[::-1])}
        self._grams: dict[bytes, list[tuple[SecretPattern, int]]] = {}
        for key in sorted(keys | {stripped for key in keys if len(stripped := _alphanumeric(key)) >= SHORTEST_PART}):
            for pattern in _in_both_directions(key.lower()):
                for position in range(len(pattern.data) - GRAM + 1):
                    positions = self._grams.setdefault(pattern.data[position : position + GRAM], [])
                    if len(positions) < MOST_POSITIONS:
                        positions.append((pattern, position))

    def __bool__(self) -> bool:
        return bool(self._whole or self._grams)

    def find(self, data: bytes) -> Iterator[Span]:
        """Spans of all matches; they may overlap."""
        lowered = data.lower()
        for value in self._whole:
            position = lowered.find(value)
            while position >= 0:
                yield position, position + len(value)
                position = lowered.find(value, position + 1)
        grams, end = self._grams, 0
        if not grams:
            return
        # any PIECE bytes in a row hold GRAM bytes that begin at a multiple of this step
        step = SHORTEST_PART - GRAM + 1
        for position in [at for at in range(0, len(lowered) - GRAM + 1, step) if lowered[at : at + GRAM] in grams]:
            if position + GRAM <= end:
                continue
            for pattern, at in grams[lowered[position : position + GRAM]]:
                found = _longest_match(lowered, position, pattern, at)
                if found is not None:
                    end = max(end, found[1])
                    yield found


@lru_cache(maxsize=16)
def patterns_for(whole: frozenset[bytes], keys: frozenset[bytes]) -> SecretPatterns:
    """The search patterns for these secrets, cached."""
    return SecretPatterns(whole, keys)


def secret_spans(data: bytes, patterns: SecretPatterns) -> list[Span] | None:
    """Merged, sorted spans of all secrets in a text; None if it has more views than can be searched."""
    found: list[Span] = []
    for view in views(data, ascii_only=patterns.ascii_only):
        if view is None:
            return None
        found += [view.original(*span) for span in patterns.find(view.data)]
    merged: list[Span] = []
    for start, stop in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], stop)
        else:
            merged.append((start, stop))
    return merged


def _alphanumeric(key: bytes) -> bytes:
    """Letters and digits only, as in an `AlphanumericView`."""
    return bytes(code for code in key if code > 127 or chr(code).isalnum())


def _in_both_directions(key: bytes) -> tuple[SecretPattern, SecretPattern]:
    public = next((len(start) for start in (*PREFIXES, *map(_alphanumeric, PREFIXES)) if key.startswith(start)), 0)
    if len(key) - public < SHORTEST_PART:
        public = 0
    return SecretPattern(key, (public, len(key))), SecretPattern(key[::-1], (0, len(key) - public))


def _longest_match(text: bytes, position: int, pattern: SecretPattern, at: int) -> Span | None:
    """The longest match of the key around this position, if it is long enough."""
    key, (first, last) = pattern
    before = 0
    while before < min(at, position) and key[at - before - 1] == text[position - before - 1]:
        before += 1
    after, most = GRAM, min(len(key) - at, len(text) - position)
    while after < most and key[at + after] == text[position + after]:
        after += 1
    secret = min(at + after, last) - max(at - before, first)
    if before + after < min(SHORTEST_PART, len(key)) or secret < LEAST_SECRET:
        return None
    return position - before, position + after
