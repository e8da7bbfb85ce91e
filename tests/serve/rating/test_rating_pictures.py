"""Pictures for raters: the same pixels in the same kind of file, whatever the run keeps."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, PngImagePlugin

from convergebench.images.decode import decode
from convergebench.serve.rating import pictures
from convergebench.serve.rating.pictures import Pictures


class Files:
    """Files of a run, and how often they were read."""

    def __init__(self, **content: bytes) -> None:
        self.content, self.reads = content, 0

    def read(self, file: str, identity: str | None = None) -> bytes:
        self.reads += 1
        return self.content[file]


def saved(form: str, **more: object) -> bytes:
    file = io.BytesIO()
    pixels = np.random.default_rng(1).integers(0, 256, (20, 30, 3), np.uint8)
    Image.fromarray(pixels).save(file, form, **more)
    return file.getvalue()


def test_a_file_that_names_its_model_says_nothing_when_it_is_shown() -> None:
    told = PngImagePlugin.PngInfo()
    told.add_text("Software", "nano-banana-2")
    content = {"png": saved("PNG", pnginfo=told), "jpeg": saved("JPEG", comment=b"nano-banana-2", quality=95)}
    assert all(b"nano-banana" in data for data in content.values())
    shown = Pictures(Files(**content), {name: name for name in content})
    for name, data in content.items():
        found = shown.png(name)
        assert found.startswith(b"\x89PNG")
        assert b"nano" not in found
        assert np.array_equal(decode(found).pixels, decode(data).pixels)


def test_pictures_are_kept_up_to_a_size() -> None:
    files = Files(a=saved("PNG"), b=saved("BMP"))
    shown = Pictures(files, {"a": "a", "b": "b"})
    assert shown.png("a") == shown.png("a")
    assert files.reads == 1
    before, pictures.KEPT_BYTES = pictures.KEPT_BYTES, 100
    try:
        shown.png("b")
        shown.png("a")
        assert files.reads == 3, "there is room for one alone"
    finally:
        pictures.KEPT_BYTES = before
