"""A reader of Thrift's compact protocol, as far as Parquet footers and page headers need it; input is untrusted."""

from __future__ import annotations

import struct
from typing import Any

DEEPEST = 16
ThriftStruct = dict[int, Any]
"""A struct: field number → value."""


class Unreadable(ValueError):
    """The bytes are not valid; the message says why."""


class ThriftReader:
    """Reads sequentially from `position`."""

    def __init__(self, data: memoryview, position: int) -> None:
        self._data, self.position = data, position

    def read_struct(self, depth: int = 0) -> ThriftStruct:
        """Read one struct."""
        if depth > DEEPEST:
            raise Unreadable("nested too deep")
        found: ThriftStruct = {}
        number = 0
        while (head := self._byte()) != 0:
            step, kind = head >> 4, head & 15
            number = number + step if step else _zigzag(self._varint())
            found[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if depth > DEEPEST:
            raise Unreadable("nested too deep")
        if kind in (1, 2, 3):  # inside a list a boolean takes one byte
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
            return self.read_struct(depth + 1)
        raise Unreadable(f"a value of kind {kind}")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head >> 4 != 15 else self._varint()
        if size > len(self._data) - self.position:  # every item takes a byte at least
            raise Unreadable("a list that is longer than the file")
        return [self._value(head & 15, depth + 1) for _ in range(size)]

    def _byte(self) -> int:
        if not 0 <= self.position < len(self._data):
            raise Unreadable("it ends too early")
        self.position += 1
        return self._data[self.position - 1]

    def _bytes(self, length: int) -> bytes:
        if length > len(self._data) - self.position:
            raise Unreadable("it ends too early")
        self.position += length
        return bytes(self._data[self.position - length : self.position])

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
