"""Stores layers inside the image file: in a private PNG chunk or a JPEG comment.

Viewers and metrics ignore both; a program that rewrites the pixels drops them, as intended.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import astuple, replace
from typing import Any

import numpy as np

from convergebench.editors.simulated.face import FaceLayout
from convergebench.editors.simulated.layers import Layer, LayeredImage
from convergebench.editors.simulated.pixels import Mask, Pixels, decode, encode_png
from convergebench.errors import StudyError

CHUNK = b"cbMM"
"""Ancillary, private, not safe to copy when the pixels change."""
_MAGIC = b"convergebench-layers-1\n"
_JPEG_ROOM = 65_000


def read_layered(data: bytes) -> LayeredImage:
    """Read the picture in a file, with its layers, if it has any."""
    pixels = decode(data)
    note = _from_png(data) if data.startswith(b"\x89PNG") else _from_jpeg(data)
    try:
        return _unpack(note, pixels) if note is not None else LayeredImage(pixels)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, zlib.error, StudyError):
        return LayeredImage(pixels)  # data that this package did not write


def with_layers(data: bytes, layered: LayeredImage) -> bytes:
    """Add the layers to the file. A JPEG has little space: it stores positions, but no hidden pixels."""
    if data.startswith(b"\x89PNG"):
        note = _pack(layered)
        chunk = struct.pack(">I", len(note)) + CHUNK + note + struct.pack(">I", zlib.crc32(CHUNK + note))
        return data[:-12] + chunk + data[-12:]
    note = _pack(replace(layered, layers=tuple(replace(layer, hidden=None) for layer in layered.layers)))
    if len(note) > _JPEG_ROOM:
        note = _pack(replace(layered, layers=()))
    # After the JFIF header, which has to come first.
    at = 4 + int.from_bytes(data[4:6], "big")
    return data[:at] + b"\xff\xfe" + struct.pack(">H", len(note) + 2) + note + data[at:]


def _from_png(data: bytes) -> bytes | None:
    at = 8
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        if data[at + 4 : at + 8] == CHUNK:
            note = data[at + 8 : at + 8 + length]
            return note if note.startswith(_MAGIC) else None
        at += 12 + length
    return None


def _from_jpeg(data: bytes) -> bytes | None:
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] != 0xDA:
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        note = data[at + 4 : at + 2 + length]
        if data[at + 1] == 0xFE and note.startswith(_MAGIC):
            return note
        at += 2 + length
    return None


def _pack(layered: LayeredImage) -> bytes:
    head: dict[str, Any] = {
        "steps": layered.steps,
        "added": layered.added,
        "size": layered.pixels.shape[:2],
        "face": None if layered.face is None else astuple(layered.face),
        "layers": [],
    }
    blobs: list[bytes] = []
    for layer in layered.layers:
        mask = zlib.compress(np.packbits(layer.mask > 0).tobytes(), 1)
        hidden = encode_png(layer.hidden) if layer.hidden is not None and layer.hidden.size else b""
        head["layers"].append(
            {
                "tag": layer.tag,
                "colour": layer.colour,
                "subject": layer.subject,
                "box": layer.box,
                "mask": len(mask),
                "hidden": None if layer.hidden is None else len(hidden),
            }
        )
        blobs += [mask, hidden]
    return _MAGIC + json.dumps(head, separators=(",", ":")).encode() + b"\n" + b"".join(blobs)


def _unpack(note: bytes, pixels: Pixels) -> LayeredImage:
    line, _, rest = note[len(_MAGIC) :].partition(b"\n")
    head = json.loads(line)
    if tuple(head["size"]) != pixels.shape[:2]:
        return LayeredImage(pixels)
    layers: list[Layer] = []
    at = 0
    for known in head["layers"]:
        mask = _unpack_mask(rest[at : at + known["mask"]], known["box"], pixels.size)
        at += known["mask"]
        hidden = None
        if known["hidden"] is not None:
            hidden = (
                decode(rest[at : at + known["hidden"]]) if known["hidden"] else np.zeros((*mask.shape, 3), np.uint8)
            )
            at += known["hidden"]
        colour = tuple(known["colour"]) if known["colour"] else None
        layers.append(Layer(known["tag"], colour, known["subject"], tuple(known["box"]), mask, hidden))
    face = FaceLayout(*head["face"]) if head["face"] else None
    return LayeredImage(pixels, tuple(layers), head["steps"], head["added"], face)


def _unpack_mask(blob: bytes, box: list[int], most: int) -> Mask:
    across, down = box[2], box[3]
    if min(across, down) < 0 or across * down > most:  # the file is untrusted
        raise ValueError("a mask that is larger than its picture")
    data = zlib.decompressobj().decompress(blob, across * down // 8 + 1)
    if 8 * len(data) < across * down:
        raise ValueError("a mask that is cut short")
    bits = np.unpackbits(np.frombuffer(data, np.uint8), count=across * down)
    return bits.reshape(down, across) * np.uint8(255)
