"""The compact form of Thrift, as much of it as footers and page headers of Parquet files need; nothing is trusted."""

from __future__ import annotations

import struct
from typing import Any

DEEPEST = 16
Table = dict[int, Any]
"""A struct: number of a field → its value."""


class Unreadable(ValueError):
    """Not what it should be."""


class Reader:
    """Reads from one place of a file onwards; `place` is where it stands."""

    def __init__(self, data: memoryview, place: int) -> None:
        self._data, self.place = data, place

    def table(self, depth: int = 0) -> Table:
        """A struct."""
        if depth > DEEPEST:
            raise Unreadable("nested too deep")
        found: Table = {}
        number = 0
        while (head := self._byte()) != 0:
            step, kind = head >> 4, head & 15
            number = number + step if step else _zigzag(self._varint())
            found[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):  # inside a list a yes or no has a byte of its own
            return self._byte()
        if kind in (4, 5, 6):
            return _zigzag(self._varint())
        if kind == 7:
            return struct.unpack("<d", self._bytes(8))[0]
        if kind == 8:
            return self._bytes(self._varint())
        if kind in (9, 10):
            return self._list(depth)
        if kind == 12:
            return self.table(depth + 1)
        raise Unreadable(f"a value of kind {kind}")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head >> 4 != 15 else self._varint()
        if size > len(self._data) - self.place:  # every item takes a byte at least
            raise Unreadable("a list that is longer than the file")
        return [self._value(head & 15, depth + 1) for _ in range(size)]

    def _byte(self) -> int:
        if not 0 <= self.place < len(self._data):
            raise Unreadable("it ends too early")
        self.place += 1
        return self._data[self.place - 1]

    def _bytes(self, length: int) -> bytes:
        if length > len(self._data) - self.place:
            raise Unreadable("it ends too early")
        self.place += length
        return bytes(self._data[self.place - length : self.place])

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise Unreadable("a number that does not end")


def _zigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)
