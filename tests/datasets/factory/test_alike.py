"""Pictures are the same as files, as pixels or to the eye; a small but visible edit is none of these."""

from __future__ import annotations

import hashlib

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.datasets.factory.alike import LEVELS, Alikeness, Duplicates
from convergebench.images.encode import encode_png
from convergebench.store.tables import ImageRow

FILES: dict[str, bytes] = {}


def kept(data: bytes) -> ImageRow:
    identity = f"i1:{hashlib.sha256(data).hexdigest()}"
    FILES[identity] = data
    return ImageRow(identity, "x.png", "image/png", 128, 128, len(data))


def scene() -> NDArray[np.uint8]:
    """Soft patches, as photographs have them."""
    rough = np.random.default_rng(0).integers(60, 180, (8, 8, 3)).astype(np.uint8)
    return cv2.resize(rough, (128, 128), interpolation=cv2.INTER_CUBIC).astype(np.uint8)


ALIKENESS = Alikeness(lambda picture: FILES[picture.id])
PLAIN = kept(encode_png(scene()))


def test_another_encoding_has_the_same_pixels() -> None:
    _, packed = cv2.imencode(".png", scene()[:, :, ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 9])
    other = kept(packed.tobytes())
    assert other.id != PLAIN.id
    assert ALIKENESS.same_pixels(PLAIN, other)
    changed = scene()
    changed[0, 0] ^= 1
    assert not ALIKENESS.same_pixels(PLAIN, kept(encode_png(changed)))


def test_jpeg_looks_the_same_and_a_small_patch_does_not() -> None:
    _, packed = cv2.imencode(".jpg", scene()[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 90])
    assert ALIKENESS.distance(PLAIN, kept(packed.tobytes())) <= LEVELS
    patched = scene()
    patched[40:48, 40:48] += 60  # one cell of 256
    assert ALIKENESS.distance(PLAIN, kept(encode_png(patched))) > LEVELS


def test_looks_are_compared_inside_a_group_and_files_everywhere() -> None:
    nearly = scene()
    nearly[:4, :4] ^= 1
    other = kept(encode_png(nearly))
    rows = Duplicates(ALIKENESS)
    assert rows.seen(("source", "add-object"), [PLAIN]) is None
    assert rows.seen(("source", "add-object"), [other]) == "alike"
    assert rows.seen(("source", "remove-object"), [other]) is None, "another type"
    assert rows.seen(("elsewhere", "add-object"), [PLAIN]) == "identical"
    assert rows.seen(("source", "add-object"), [PLAIN, other]) is None, "a session of two turns is no edit"
