"""A text in every way it can be read: as it stands, without escapes, without line breaks, unpacked, backwards.

Each view knows where its bytes stand in the text it was made from, so that what is found in a view can be blotted out
in the original. Views are made of views, so that spellings on top of each other are read too.
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
"""So many spellings on top of each other are read."""
WORK = (30, 200_000)
"""Bytes of all views together, for each byte of the text and beside them; ordinary texts need a fifth of it."""

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
"""Other spaces, characters without a width, line breaks of HTML, and the colons of `73:6b:2d`."""
_MARKS = re.compile(rb"(?:0x|[^0-9A-Za-z\x80-\xff])+")
"""All that is no letter and no digit: `['s', 'k']`, `73-6b`, `0x73, 0x6b`, `"s" + "k"`."""
_NUMBERS = re.compile(rb"(?:\b\d{2,3}, ?){7,}\d{2,3}\b")
"""Characters by their numbers: `[115, 107, 45]`, as Node writes bytes."""
_HEX, _BASE64 = re.compile(rb"[0-9A-Fa-f]{16,}"), re.compile(rb"[A-Za-z0-9+/_-]{11,}")
_HEX_OF_TEXT = re.compile(rb"(?:[2-7][0-9A-Fa-f]|0[9AaDd]){6}")
_BASE64_OF_TEXT = re.compile(rb"(?:[CDI-Za-f][AC-HQS-Xgi-nwyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){2}")
"""What every run holds that unpacks to six or more readable characters; ordinary words hardly ever do."""
_READABLE = re.compile(rb"[\t\r\n -~]{8,}")
_DROPPED = bytes(code for code in range(128) if not chr(code).isalnum())
_FOR_ADDRESSES = bytes.maketrans(b"-_", b"+/")


class View:
    """One reading of a text."""

    def __init__(self, data: bytes, parent: View | None = None, *, turned: bool = False) -> None:
        self.data, self.parent = data, parent
        self.turned: bool = turned or (parent is not None and parent.turned)

    def original(self, start: int, stop: int) -> Span:
        """Where the bytes from `start` to `stop` stand in the text itself."""
        view: View = self
        while view.parent is not None:
            start, stop = view.place(start, stop)
            view = view.parent
        return start, stop

    def place(self, start: int, stop: int) -> Span:
        """Where they stand in the view that this one was made from."""
        return start, stop


class Replaced(View):
    """What a pattern matches is replaced, everything else stays."""

    def __init__(
        self,
        parent: View,
        pattern: re.Pattern[bytes],
        meant: Callable[[re.Match[bytes]], bytes] | None = None,
        *,
        data: bytes | None = None,
    ) -> None:
        """`meant`: what stands in the place of a match, else nothing; `data`: the result, where it is known."""
        super().__init__(pattern.sub(meant or b"", parent.data) if data is None else data, parent)
        self._pattern, self._meant = pattern, meant

    @cached_property
    def _changes(self) -> tuple[list[int], list[tuple[int, Span]]]:
        """Where each replacement begins here, where it ends here, and what it replaced. Only looked up after a find."""
        begins, changes, shift = [], [], 0
        assert self.parent is not None
        for match in self._pattern.finditer(self.parent.data):
            begin = match.start() + shift
            end = begin + (len(self._meant(match)) if self._meant else 0)
            begins.append(begin)
            changes.append((end, match.span()))
            shift = end - match.end()
        return begins, changes

    def place(self, start: int, stop: int) -> Span:
        """Part of a replacement stands for all that was replaced."""
        return self._at(start)[0], self._at(stop - 1)[1]

    def _at(self, position: int) -> Span:
        begins, changes = self._changes
        index = bisect_right(begins, position) - 1
        if index < 0:
            return position, position + 1
        end, replaced = changes[index]
        if position < end:
            return replaced
        there = position - end + replaced[1]
        return there, there + 1


class Unpacked(View):
    """The readable parts of what runs of a packed alphabet unpack to; `letters` of the alphabet make `octets` bytes."""

    def __init__(self, parent: View, runs: list[tuple[int, bytes]], *, letters: int, octets: int, all_: bool) -> None:
        self.letters, self._octets = letters, octets
        self._begins: list[int] = []
        self._sources: list[Span] = []
        """Of each part: where its run begins in the parent, and where the part begins in what the run unpacks to."""
        parts, length = [], 0
        for base, unpacked in runs:
            for first, part in ((0, unpacked),) if all_ else ((m.start(), m[0]) for m in _READABLE.finditer(unpacked)):
                self._begins.append(length)
                self._sources.append((base, first))
                parts.append(part)
                length += len(part) + 1
        super().__init__(b"\0".join(parts), parent)

    def place(self, start: int, stop: int) -> Span:
        """Letters that belong to two bytes belong to both."""
        index = bisect_right(self._begins, start) - 1
        base, first = self._sources[index]
        shift = first - self._begins[index]
        assert self.parent is not None
        end = base - (-(stop + shift) * self.letters // self._octets)
        return base + (start + shift) * self.letters // self._octets, min(end, len(self.parent.data))


class Squeezed(Replaced):
    """Letters and digits alone; keys are looked for without their marks, too. Nothing but hexadecimal survives this."""

    def __init__(self, parent: View) -> None:
        data = parent.data
        plain = (data.replace(b"0x", b"") if b"0x" in data else data).translate(None, _DROPPED)
        super().__init__(parent, _MARKS, data=plain)


class Backwards(View):
    """Last byte first."""

    def __init__(self, parent: View) -> None:
        super().__init__(parent.data[::-1], parent, turned=True)

    def place(self, start: int, stop: int) -> Span:
        """Counted from the other end."""
        return len(self.data) - stop, len(self.data) - start


def views(data: bytes, *, ascii_only: bool) -> Iterator[View | None]:
    """Every reading of a text, the plain one first; None at the end if there are more than can be looked at.

    `ascii_only`: what is looked for is plain ASCII, so what unpacks to anything else need not be kept.
    """
    waiting, seen = [View(data)], {data}
    left = WORK[0] * len(data) + WORK[1]
    for _ in range(DEEPEST + 1):
        following: list[View] = []
        for view in waiting:
            if not isinstance(view, Backwards):  # what is looked for is looked for in both directions
                yield view
            for child in _children(view, ascii_only):
                if child.data in seen:
                    continue
                left -= len(child.data)
                if left < 0:
                    yield None
                    return
                seen.add(child.data)
                following.append(child)
        waiting = following


def _children(view: View, ascii_only: bool) -> Iterator[View]:
    """The views that are one step away.

    Unpacking and turning round wait until the gaps are closed: what can be read with gaps can be read without them.
    """
    data = view.data
    if isinstance(view, Squeezed):
        yield from (child for child in _unpacked(view, ascii_only) if child.letters == 2)
        return
    slashed, otherwise = b"\\" in data, b"%" in data or b"&" in data
    if slashed or otherwise:
        yield Replaced(view, _ESCAPE, _meant)
    if slashed and otherwise:  # the line breaks that JSON writes may stand in the middle of other escapes
        yield Replaced(view, _BACKSLASH, _meant)
    if b"," in data and not view.turned:
        yield Replaced(view, _NUMBERS, _numbered)
    closed = _closed(view)
    if closed.data != data:
        yield closed
        return
    yield from _unpacked(view, ascii_only)
    if not view.turned:
        yield Squeezed(view)
        yield Backwards(view)


def _unpacked(view: View, ascii_only: bool) -> Iterator[Unpacked]:
    """What runs of hexadecimal and of base64 hold."""
    data = view.data
    for alphabet, hint, unpack, letters, octets in PACKINGS:
        if ascii_only and not hint.search(data):
            continue
        matches = (match for match in alphabet.finditer(data) if not ascii_only or hint.search(match[0]))
        runs = [(match.start() + skip, unpacked) for match in matches for skip, unpacked in unpack(match[0])]
        if runs:
            yield Unpacked(view, runs, letters=letters, octets=octets, all_=not ascii_only)


def _closed(view: View) -> View:
    """Without gaps."""
    closed: View = Replaced(view, _SPACE, data=view.data.translate(None, b" \t\r\n\v\f"))
    if any(mark in closed.data for mark in (b":", b"<", b"\xc2", b"\xe2", b"\xef")):
        closed = Replaced(closed, _GAP)
    return closed


def _from_hex(run: bytes) -> Iterator[tuple[int, bytes]]:
    """What it means, begun at its first digit and at its second: what stands before it may look like a digit."""
    for skip in range(2):
        yield skip, binascii.unhexlify(run[skip : len(run) - (len(run) - skip) % 2])


def _from_base64(run: bytes) -> Iterator[tuple[int, bytes]]:
    """What it means, begun at each of the four places in a step: a piece may begin in the middle of one."""
    run = run.translate(_FOR_ADDRESSES)
    for skip in range(4):
        part = run[skip:]
        yield skip, binascii.a2b_base64(part + b"A" * (-len(part) % 4))


PACKINGS = ((_HEX, _HEX_OF_TEXT, _from_hex, 2, 1), (_BASE64, _BASE64_OF_TEXT, _from_base64, 4, 3))


def _numbered(match: re.Match[bytes]) -> bytes:
    """What numbers of characters stand for, if all of them are such."""
    numbers = [int(number) for number in match[0].split(b",")]
    return bytes(numbers) if all(32 <= number < 127 for number in numbers) else match[0]


def _meant(match: re.Match[bytes]) -> bytes:
    """What an escape stands for."""
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
