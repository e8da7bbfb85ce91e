"""Changes the input size of an ONNX network that was exported for one size only.

IS-Net is published for 1024 × 1024 pixels, which takes 4 seconds; at 512 × 512 it takes 0.8. Its layers work at any
size, but the file states the sizes of all its enlargements. Here they are rewritten, along with the declared input and
output; the declared sizes in between, which are optional, are left out. ONNX is a protocol buffer: a list of numbered
fields, each a number, or bytes that may be such a list again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from convergebench.errors import Prerequisite

# the numbers of fields in ONNX's messages
MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_OUTPUT, GRAPH_VALUE_INFO = 1, 5, 11, 12, 13
NODE_INPUT, NODE_OP_TYPE = 1, 4
TENSOR_NAME, TENSOR_RAW_DATA = 8, 9
VALUE_TYPE, TYPE_TENSOR, TENSOR_SHAPE, SHAPE_DIM, DIM_VALUE = 2, 1, 2, 1, 1

NUMBER, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5


class MessageField(NamedTuple):
    """One field of a message: its number, how it is encoded, and its content (a number's bytes as they stand)."""

    number: int
    encoding: int
    content: bytes


def with_input_size(model: bytes, side: int) -> bytes:
    """The network for square pictures of another side, in a whole proportion to its own, with its first output only."""
    try:
        return _rewritten(model, side)
    except (IndexError, ValueError, StopIteration) as error:
        reason = str(error) or "it has no graph with an input"
        raise Prerequisite(f"the network's file is damaged ({reason}); fetch it again") from error


def _rewritten(model: bytes, side: int) -> bytes:
    parts = list(_fields(model))
    position = next(place for place, part in enumerate(parts) if part.number == MODEL_GRAPH)
    graph = list(_fields(parts[position].content))
    own = _square_side(next(part.content for part in graph if part.number == GRAPH_INPUT))
    sizes = {_inputs(part.content)[3] for part in graph if part.number == GRAPH_NODE and _is_resize(part.content)}
    kept, outputs = [], 0
    for part in graph:
        content = part.content
        if part.number == GRAPH_VALUE_INFO or (part.number == GRAPH_OUTPUT and outputs):
            continue
        if part.number == GRAPH_INITIALIZER and _only(content, TENSOR_NAME) in sizes:
            content = _scaled_tensor(content, side, own)
        elif part.number in (GRAPH_INPUT, GRAPH_OUTPUT):
            content = _with_side(content, side, [VALUE_TYPE, TYPE_TENSOR, TENSOR_SHAPE])
            outputs += part.number == GRAPH_OUTPUT
        kept.append(part._replace(content=content))
    parts[position] = parts[position]._replace(content=_encoded(kept))
    return _encoded(parts)


def _is_resize(node: bytes) -> bool:
    return _only(node, NODE_OP_TYPE) == b"Resize"


def _inputs(node: bytes) -> list[bytes]:
    return [part.content for part in _fields(node) if part.number == NODE_INPUT]


def _only(message: bytes, number: int) -> bytes:
    return next((part.content for part in _fields(message) if part.number == number), b"")


def _scaled_tensor(tensor: bytes, side: int, own: int) -> bytes:
    """A tensor of four sizes (number, channels, height, width), with the last two in proportion."""
    parts = list(_fields(tensor))
    for place, part in enumerate(parts):
        if part.number == TENSOR_RAW_DATA:
            sizes = np.frombuffer(part.content, "<i8").copy()
            sizes[2:] = sizes[2:] * side // own
            parts[place] = part._replace(content=sizes.tobytes())
    return _encoded(parts)


def _square_side(value: bytes) -> int:
    for number in (VALUE_TYPE, TYPE_TENSOR, TENSOR_SHAPE):
        value = _only(value, number)
    *_, height, width = (_number(_only(part.content, DIM_VALUE), 0)[0] for part in _fields(value))
    if height != width:
        raise ValueError(f"its input is {width} × {height} and not square")
    return height


def _with_side(message: bytes, side: int, path: list[int]) -> bytes:
    """A declared value with other last two sizes; `path` leads to its shape."""
    parts = list(_fields(message))
    if not path:
        dimension = _encoded([MessageField(DIM_VALUE, NUMBER, _as_number(side))])
        parts[-2:] = [MessageField(SHAPE_DIM, BYTES, dimension)] * 2
        return _encoded(parts)
    return _encoded(
        [
            part._replace(content=_with_side(part.content, side, path[1:])) if part.number == path[0] else part
            for part in parts
        ]
    )


# --- protocol buffers -------------------------------------------------------------------------------------


def _fields(message: bytes) -> Iterator[MessageField]:
    place = 0
    while place < len(message):
        key, place = _number(message, place)
        encoding = key & 7
        start = place
        if encoding == NUMBER:
            _, place = _number(message, place)
        elif encoding == BYTES:
            length, start = _number(message, place)
            place = start + length
        elif encoding in (FIXED_32, FIXED_64):
            place += 4 if encoding == FIXED_32 else 8
        else:
            raise ValueError(f"a field of encoding {encoding}")
        if place > len(message):
            raise ValueError("it ends in the middle of a field")
        yield MessageField(key >> 3, encoding, message[start:place])


def _encoded(fields: list[MessageField]) -> bytes:
    pieces = []
    for field in fields:
        pieces.append(_as_number(field.number << 3 | field.encoding))
        if field.encoding == BYTES:
            pieces.append(_as_number(len(field.content)))
        pieces.append(field.content)
    return b"".join(pieces)


def _number(message: bytes, place: int) -> tuple[int, int]:
    """A number of variable length (7 bits a byte, the lowest first), and the place after it."""
    value = 0
    for shift in range(0, 70, 7):
        byte = message[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise ValueError("a number that does not end")


def _as_number(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
