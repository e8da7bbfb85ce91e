"""The body of an answer, unpacked no further than its limit: a few kilobytes can unpack to gigabytes.

The HTTP libraries would unpack a whole piece, through as many layers as the headers name, before anybody can look at
its size. So both of them are asked for the bytes as they came, and these are unpacked here in small steps.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable

from convergebench.errors import BadReply, Transient

ACCEPTED = "gzip"
"""What is sent as Accept-Encoding."""
LAYERS = 2
"""So many encodings on top of each other are unpacked; nobody needs more."""
LONGEST_FAILURE = 1_000_000
"""Bytes that are read of an answer that is no success: its first words say why."""
STEP = 1 << 16
"""Bytes that are unpacked at a time."""

_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


class Overlong(Exception):
    """There is more than the limit allows."""


class Unpacker:
    """Takes a body piece by piece; `data` holds what it unpacks to, at most `most` bytes.

    Every layer is limited, not only the last one: what one layer unpacks to is what the next one has to go through.
    """

    def __init__(self, encodings: list[str], most: int) -> None:
        self.data = bytearray()
        self._most, self._came = most, 0
        self._layers = [zlib.decompressobj(_WINDOWS[name]) for name in reversed(encodings)]
        self._made = [0] * len(self._layers)

    def feed(self, piece: bytes) -> None:
        """One more piece; `Overlong` as soon as there is too much, `zlib.error` if it is not what it is said to be."""
        self._came += len(piece)
        self._through(0, piece)
        if self._came > self._most:
            raise Overlong

    def is_whole(self) -> bool:
        """Whether every layer came to its end; nothing at all is whole too (an answer without a body)."""
        return self._came == 0 or all(layer.eof for layer in self._layers)

    def _through(self, number: int, piece: bytes) -> None:
        if number == len(self._layers):
            room = self._most - len(self.data)
            self.data += piece[:room]
            if len(piece) > room:
                raise Overlong
            return
        layer = self._layers[number]
        while piece and not layer.eof:
            step = layer.decompress(piece, STEP)
            piece = layer.unconsumed_tail
            self._made[number] += len(step)
            if step:
                self._through(number + 1, step)
            if self._made[number] > self._most:
                raise Overlong


async def whole(pieces: AsyncIterable[bytes], encoding: str, *, where: str, status: int, most: int) -> bytes:
    """The body of an answer, given the bytes as they came and its Content-Encoding.

    A success that is too long, packed in a way nobody asked for or cut short is an error, and unsettled: the work may
    have been done and charged. Of a failure the status says enough; as much of its body is taken as can be read.
    """
    if status >= 300:
        return await _beginning(pieces, encoding, min(most, LONGEST_FAILURE))
    names = _names(encoding)
    if names is None:
        message = f"{where} answers {status} with a body that is packed in a way that was not asked for"
        raise BadReply(message, unsettled=True)
    unpacker = Unpacker(names, most)
    try:
        async for piece in pieces:
            unpacker.feed(piece)
    except Overlong:
        raise BadReply(f"{where} answers {status} and does not come to an end", unsettled=True) from None
    except zlib.error as error:
        message = f"{where} answers {status} with a body that is packed wrongly"
        raise Transient(message, unsettled=True) from error
    if not unpacker.is_whole():
        raise Transient(f"{where} answers {status} with a body that is cut short", unsettled=True)
    return bytes(unpacker.data)


async def _beginning(pieces: AsyncIterable[bytes], encoding: str, most: int) -> bytes:
    names = _names(encoding)
    if names is None:
        return b""
    unpacker = Unpacker(names, most)
    try:
        async for piece in pieces:
            unpacker.feed(piece)
    except (Overlong, zlib.error):
        pass
    return bytes(unpacker.data)


def _names(encoding: str) -> list[str] | None:
    """The encodings in the order in which they were put on; None if they cannot be taken off here."""
    names = [name for part in encoding.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    return None if len(names) > LAYERS or not _WINDOWS.keys() >= set(names) else names
