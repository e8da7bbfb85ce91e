"""The body of a reply, decompressed up to a limit: a few kilobytes can expand to gigabytes.

The HTTP libraries decompress a whole piece, through as many layers as the headers name, before its size can be
checked. So both of them deliver the raw bytes, which are decompressed here in small steps.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable

from convergebench.errors import BadReply, Transient

ACCEPTED = "gzip"
"""Value of the Accept-Encoding header."""
MOST_ENCODINGS = 2
"""Most nested encodings that are accepted."""
LONGEST_FAILURE = 1_000_000
"""Most bytes that are read of an error reply."""
CHUNK = 1 << 16
"""Bytes that are decompressed at a time."""

_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


class ReplyTooLong(Exception):
    """The body is longer than the limit."""


class Unpacker:
    """Decompresses a body piece by piece into `data`, at most `most` bytes.

    The output of every layer is limited, not only the last one, since the next layer has to process it.
    """

    def __init__(self, encodings: list[str], most: int) -> None:
        self.data = bytearray()
        self._most, self._received = most, 0
        self._layers = [zlib.decompressobj(_WINDOWS[name]) for name in reversed(encodings)]
        self._produced = [0] * len(self._layers)

    def feed(self, piece: bytes) -> None:
        """Add a piece; `ReplyTooLong` as soon as the limit is passed, `zlib.error` if it is not as declared."""
        self._received += len(piece)
        self._decompress(0, piece)
        if self._received > self._most:
            raise ReplyTooLong

    def is_complete(self) -> bool:
        """Whether every layer has ended; an empty body is complete too."""
        return self._received == 0 or all(layer.eof for layer in self._layers)

    def _decompress(self, number: int, piece: bytes) -> None:
        if number == len(self._layers):
            room = self._most - len(self.data)
            self.data += piece[:room]
            if len(piece) > room:
                raise ReplyTooLong
            return
        layer = self._layers[number]
        while piece and not layer.eof:
            step = layer.decompress(piece, CHUNK)
            piece = layer.unconsumed_tail
            self._produced[number] += len(step)
            if step:
                self._decompress(number + 1, step)
            if self._produced[number] > self._most:
                raise ReplyTooLong


async def read_body(pieces: AsyncIterable[bytes], encoding: str, *, where: str, status: int, most: int) -> bytes:
    """The body of a reply, from its raw bytes and its Content-Encoding.

    A success that is too long, truncated or compressed in another way than requested is an unsettled error: the work
    may have been done and charged. Of an error reply, as much of the body is returned as can be read.
    """
    if status >= 300:
        return await _readable_start(pieces, encoding, min(most, LONGEST_FAILURE))
    names = _encodings(encoding)
    if names is None:
        message = f"{where} answers {status} with a body in a compression that was not requested"
        raise BadReply(message, unsettled=True)
    unpacker = Unpacker(names, most)
    try:
        async for piece in pieces:
            unpacker.feed(piece)
    except ReplyTooLong:
        raise BadReply(f"{where} answers {status} with a body that does not end", unsettled=True) from None
    except zlib.error as error:
        message = f"{where} answers {status} with a body that cannot be decompressed"
        raise Transient(message, unsettled=True) from error
    if not unpacker.is_complete():
        raise Transient(f"{where} answers {status} with a body that is cut short", unsettled=True)
    return bytes(unpacker.data)


async def _readable_start(pieces: AsyncIterable[bytes], encoding: str, most: int) -> bytes:
    names = _encodings(encoding)
    if names is None:
        return b""
    unpacker = Unpacker(names, most)
    try:
        async for piece in pieces:
            unpacker.feed(piece)
    except (ReplyTooLong, zlib.error):
        pass
    return bytes(unpacker.data)


def _encodings(encoding: str) -> list[str] | None:
    """The encodings in the order they were applied; None if they are not supported."""
    names = [name for part in encoding.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    return None if len(names) > MOST_ENCODINGS or not _WINDOWS.keys() >= set(names) else names
