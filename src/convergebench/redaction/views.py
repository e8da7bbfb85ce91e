"""All decoded views of a text: plain, unescaped, without line breaks, base64 and hex decoded, reversed.

Each view maps its bytes back to the text it was made from, so that a match in a view can be redacted in the original.
Views are made from views, so that nested encodings are decoded too.
"""

from __future__ import annotations

import binascii
import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property

Span = tuple[int, int]

DEEPEST = 7
"""Most nested encodings that are decoded."""
BUDGET = (30, 200_000)
"""Most bytes of all views: per byte of the text, and in addition; ordinary texts need a fifth of it."""

_BACKSLASHED = (
    rb"\\u(?P<short>[0-9A-Fa-f]{4})|\\U(?P<long>[0-9A-Fa-f]{8})|\\u\{(?P<any>[0-9A-Fa-f]{1,8})\}"
    rb"|\\x(?P<byte>[0-9A-Fa-f]{2})|\\(?P<octal>[0-3][0-7]{2})|\\(?P<gap>[nrtvfb])|\\(?P<mark>[^\w\s])"
)
_BACKSLASH = re.compile(_BACKSLASHED)
_ESCAPE = re.compile(
    rb"%(?P<octet>[0-9A-Fa-f]{2})|%u(?P<unit>[0-9A-Fa-f]{4})"
    rb"|&(?:#[0-9]{1,20};?|#[xX][0-9A-Fa-f]{1,20};?|[A-Za-z][0-9A-Za-z]{1,30};|(?:amp|lt|gt|quot)\b)|" + _BACKSLASHED
)
_SPACE = re.compile(rb"[ \t\r\n\v\f]+")
_GAP = re.compile(
    rb"\xc2[\xa0\xad]|\xe2\x80[\x80-\x8f\xa8-\xaf]|\xe2\x81\xa0|\xef\xbb\xbf|<w?br ?/?>"
    rb"|(?<=[0-9A-Fa-f]{2}):(?=[0-9A-Fa-f]{2})"
)
"""Other spaces, zero-width characters, HTML line breaks, and the colons of `73:6b:2d`."""
_PUNCTUATION = re.compile(rb"(?:0x|[^0-9A-Za-z\x80-\xff])+")
"""Everything except letters and digits: `['s', 'k']`, `73-6b`, `0x73, 0x6b`, `"s" + "k"`."""
_NUMBERS = re.compile(rb"(?:\b\d{2,3}, ?){7,}\d{2,3}\b")
"""Character codes: `[115, 107, 45]`, as Node writes bytes."""
_HEX, _BASE64 = re.compile(rb"[0-9A-Fa-f]{16,}"), re.compile(rb"[A-Za-z0-9+/_-]{11,}")
_HEX_OF_TEXT = re.compile(rb"(?:[2-7][0-9A-Fa-f]|0[9AaDd]){6}")
_BASE64_OF_TEXT = re.compile(rb"(?:[CDI-Za-f][AC-HQS-Xgi-nwyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){2}")
"""Found in every run that decodes to six or more readable characters; rare in ordinary words."""
_READABLE = re.compile(rb"[\t\r\n -~]{8,}")
_NOT_ALPHANUMERIC = bytes(code for code in range(128) if not chr(code).isalnum())
_URL_SAFE = bytes.maketrans(b"-_", b"+/")


class TextView:
    """One view of a text."""

    def __init__(self, data: bytes, parent: TextView | None = None, *, reversed_: bool = False) -> None:
        self.data, self.parent = data, parent
        self.reversed_: bool = reversed_ or (parent is not None and parent.reversed_)

    def original(self, start: int, stop: int) -> Span:
        """The span of the original text that the bytes from `start` to `stop` come from."""
        view: TextView = self
        while view.parent is not None:
            start, stop = view.span_in_parent(start, stop)
            view = view.parent
        return start, stop

    def span_in_parent(self, start: int, stop: int) -> Span:
        """The span of the parent view that these bytes come from."""
        return start, stop


class ReplacedView(TextView):
    """The parent with every match of a pattern replaced."""

    def __init__(
        self,
        parent: TextView,
        pattern: re.Pattern[bytes],
        replacement: Callable[[re.Match[bytes]], bytes] | None = None,
        *,
        data: bytes | None = None,
    ) -> None:
        """`replacement`: what replaces a match, nothing by default; `data`: the result, where it is known."""
        super().__init__(pattern.sub(replacement or b"", parent.data) if data is None else data, parent)
        self._pattern, self._unescaped = pattern, replacement

    @cached_property
    def _changes(self) -> tuple[list[int], list[tuple[int, Span]]]:
        """Start of each replacement here, its end here, and the span it replaced. Computed only after a match."""
        begins, changes, shift = [], [], 0
        assert self.parent is not None
        for match in self._pattern.finditer(self.parent.data):
            begin = match.start() + shift
            end = begin + (len(self._unescaped(match)) if self._unescaped else 0)
            begins.append(begin)
            changes.append((end, match.span()))
            shift = end - match.end()
        return begins, changes

    def span_in_parent(self, start: int, stop: int) -> Span:
        """Any part of a replacement maps to the whole span that was replaced."""
        return self._replaced_span(start)[0], self._replaced_span(stop - 1)[1]

    def _replaced_span(self, position: int) -> Span:
        begins, changes = self._changes
        index = bisect_right(begins, position) - 1
        if index < 0:
            return position, position + 1
        end, replaced = changes[index]
        if position < end:
            return replaced
        there = position - end + replaced[1]
        return there, there + 1


class DecodedView(TextView):
    """The readable parts of decoded runs (base64, hex); `letters` characters decode to `octets` bytes."""

    def __init__(
        self, parent: TextView, runs: list[tuple[int, bytes]], *, letters: int, octets: int, whole: bool
    ) -> None:
        self.letters, self._octets = letters, octets
        self._begins: list[int] = []
        self._sources: list[Span] = []
        """For each part: start of its run in the parent, and start of the part in the decoded run."""
        parts, length = [], 0
        for base, unpacked in runs:
            for first, part in ((0, unpacked),) if whole else ((m.start(), m[0]) for m in _READABLE.finditer(unpacked)):
                self._begins.append(length)
                self._sources.append((base, first))
                parts.append(part)
                length += len(part) + 1
        super().__init__(b"\0".join(parts), parent)

    def span_in_parent(self, start: int, stop: int) -> Span:
        """A character that encodes bits of two bytes counts for both."""
        index = bisect_right(self._begins, start) - 1
        base, first = self._sources[index]
        shift = first - self._begins[index]
        assert self.parent is not None
        end = base - (-(stop + shift) * self.letters // self._octets)
        return base + (start + shift) * self.letters // self._octets, min(end, len(self.parent.data))


class AlphanumericView(ReplacedView):
    """Letters and digits only; keys are searched without punctuation too. Only hex can still be decoded from it."""

    def __init__(self, parent: TextView) -> None:
        data = parent.data
        plain = (data.replace(b"0x", b"") if b"0x" in data else data).translate(None, _NOT_ALPHANUMERIC)
        super().__init__(parent, _PUNCTUATION, data=plain)


class ReversedView(TextView):
    """Last byte first."""

    def __init__(self, parent: TextView) -> None:
        super().__init__(parent.data[::-1], parent, reversed_=True)

    def span_in_parent(self, start: int, stop: int) -> Span:
        """The same bytes, counted from the other end."""
        return len(self.data) - stop, len(self.data) - start


def views(data: bytes, *, ascii_only: bool) -> Iterator[TextView | None]:
    """All views of a text, the plain one first; None at the end if they exceed the budget.

    `ascii_only`: the secrets are plain ASCII, so runs that decode to anything else are dropped.
    """
    waiting, seen = [TextView(data)], {data}
    bytes_left = BUDGET[0] * len(data) + BUDGET[1]
    for _ in range(DEEPEST + 1):
        following: list[TextView] = []
        for view in waiting:
            if not isinstance(view, ReversedView):  # secrets are searched in both directions anyway
                yield view
            for child in _children(view, ascii_only):
                if child.data in seen:
                    continue
                bytes_left -= len(child.data)
                if bytes_left < 0:
                    yield None
                    return
                seen.add(child.data)
                following.append(child)
        waiting = following


def _children(view: TextView, ascii_only: bool) -> Iterator[TextView]:
    """The views that are one step away.

    Gaps are removed before decoding and reversing: whatever is found with gaps is found without them.
    """
    data = view.data
    if isinstance(view, AlphanumericView):
        yield from (child for child in _unpacked(view, ascii_only) if child.letters == 2)
        return
    backslashes, other_escapes = b"\\" in data, b"%" in data or b"&" in data
    if backslashes or other_escapes:
        yield ReplacedView(view, _ESCAPE, _unescaped)
    if backslashes and other_escapes:  # JSON line breaks may split other escapes
        yield ReplacedView(view, _BACKSLASH, _unescaped)
    if b"," in data and not view.reversed_:
        yield ReplacedView(view, _NUMBERS, _from_numbers)
    compact = _without_gaps(view)
    if compact.data != data:
        yield compact
        return
    yield from _unpacked(view, ascii_only)
    if not view.reversed_:
        yield AlphanumericView(view)
        yield ReversedView(view)


def _unpacked(view: TextView, ascii_only: bool) -> Iterator[DecodedView]:
    """The decoded runs of hexadecimal and base64."""
    data = view.data
    for alphabet, hint, unpack, letters, octets in ENCODINGS:
        if ascii_only and not hint.search(data):
            continue
        matches = (match for match in alphabet.finditer(data) if not ascii_only or hint.search(match[0]))
        runs = [(match.start() + offset, unpacked) for match in matches for offset, unpacked in unpack(match[0])]
        if runs:
            yield DecodedView(view, runs, letters=letters, octets=octets, whole=not ascii_only)


def _without_gaps(view: TextView) -> TextView:
    """The view without spaces and other gaps."""
    compact: TextView = ReplacedView(view, _SPACE, data=view.data.translate(None, b" \t\r\n\v\f"))
    if any(mark in compact.data for mark in (b":", b"<", b"\xc2", b"\xe2", b"\xef")):
        compact = ReplacedView(compact, _GAP)
    return compact


def _from_hex(run: bytes) -> Iterator[tuple[int, bytes]]:
    """Decoded from the first digit and from the second: a character before it may look like a digit."""
    for offset in range(2):
        yield offset, binascii.unhexlify(run[offset : len(run) - (len(run) - offset) % 2])


def _from_base64(run: bytes) -> Iterator[tuple[int, bytes]]:
    """Decoded from each of the four offsets: a run may start in the middle of a group."""
    run = run.translate(_URL_SAFE)
    for offset in range(4):
        part = run[offset:]
        yield offset, binascii.a2b_base64(part + b"A" * (-len(part) % 4))


ENCODINGS = ((_HEX, _HEX_OF_TEXT, _from_hex, 2, 1), (_BASE64, _BASE64_OF_TEXT, _from_base64, 4, 3))


def _from_numbers(match: re.Match[bytes]) -> bytes:
    """The characters with these codes, if all codes are printable ASCII."""
    numbers = [int(number) for number in match[0].split(b",")]
    return bytes(numbers) if all(32 <= number < 127 for number in numbers) else match[0]


def _unescaped(match: re.Match[bytes]) -> bytes:
    """The character or byte that an escape stands for."""
    kind, text = match.lastgroup, match[0]
    if kind is None:
        return html.unescape(text.decode("ascii")).encode("utf-8", "replace")
    inside = match[kind]
    if kind in ("byte", "octet", "octal"):
        return bytes([int(inside, 8 if kind == "octal" else 16)])
    if kind in ("gap", "mark"):
        return b"\n" if kind == "gap" else inside
    code = int(inside, 16)
    return chr(code).encode("utf-8", "replace") if code < 0x110000 else b"?"
