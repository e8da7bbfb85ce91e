"""The note that a simulated editor leaves in its pictures may have been written by anybody."""

from __future__ import annotations

import json
import resource
import struct
import zlib
from typing import Any

import numpy as np
import pytest

from convergebench.editors.simulated.memory import _MAGIC, CHUNK, read_layered
from convergebench.images.encode import encode_png

PICTURE = encode_png(np.zeros((64, 64, 3), np.uint8))
HEAD: dict[str, Any] = {"steps": 1, "added": 0, "size": [64, 64], "face": None, "layers": []}
LAYER: dict[str, Any] = {"tag": "hat", "colour": None, "subject": "x", "box": [0, 0, 8, 8], "mask": 0, "hidden": None}
BOMB = zlib.compress(bytes(150 << 20), 9)


def with_note(note: bytes) -> bytes:
    chunk = struct.pack(">I", len(note)) + CHUNK + note + struct.pack(">I", zlib.crc32(CHUNK + note))
    return PICTURE[:-12] + chunk + PICTURE[-12:]


@pytest.mark.parametrize(
    "note",
    [
        b"no JSON",
        b"[]",
        b"{}",
        b"[" * 50_000,
        json.dumps(HEAD | {"size": 3}).encode(),
        json.dumps(HEAD | {"layers": [1]}).encode(),
        json.dumps(HEAD | {"layers": [LAYER]}).encode(),
        json.dumps(HEAD | {"layers": [LAYER | {"box": [0, 0, 10**6, 10**6]}]}).encode(),
        json.dumps(HEAD | {"layers": [LAYER | {"box": [0, 0, -1, -1]}]}).encode(),
        json.dumps(HEAD | {"layers": [LAYER | {"mask": len(BOMB), "box": [0, 0, 10**5, 10**4]}]}).encode()
        + b"\n"
        + BOMB,
        json.dumps(HEAD | {"layers": [LAYER | {"hidden": 4}]}).encode() + b"\nhide",
        json.dumps(HEAD | {"face": [1]}).encode(),
    ],
    ids=lambda note: repr(note[:60]),
)
def test_a_note_that_makes_no_sense_is_no_note(note: bytes) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert read_layered(with_note(_MAGIC + note)).layers == ()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # KiB


def test_a_mask_is_unpacked_no_further_than_its_box() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    head = HEAD | {"layers": [LAYER | {"mask": len(BOMB)}]}
    found = read_layered(with_note(_MAGIC + json.dumps(head).encode() + b"\n" + BOMB))
    assert [layer.mask.shape for layer in found.layers] == [(8, 8)]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # KiB
