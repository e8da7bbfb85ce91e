"""Pictures at another size: what is kept, where the square lies, and bytes that no library can change."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
from PIL import Image

from convergebench.errors import StudyError
from convergebench.images.decode import decode, probe
from convergebench.images.sized import at_most, plain_png, square
from tests.images.samples import file_bytes, picture


def jpeg(width: int, height: int, *, orientation: int = 1) -> bytes:
    out, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(picture(width, height)).save(out, "JPEG", quality=95, exif=exif)
    return out.getvalue()


@pytest.mark.parametrize("size", [(1, 1), (24, 16), (300, 200)])  # the last one needs several blocks
def test_a_plain_png_holds_exactly_these_pixels(size: tuple[int, int]) -> None:
    pixels = picture(*size)
    data = plain_png(pixels)
    np.testing.assert_array_equal(decode(data).pixels, pixels)
    with Image.open(io.BytesIO(data)) as opened:  # another reader than ours agrees
        opened.load()
        np.testing.assert_array_equal(np.array(opened), pixels)


def test_the_bytes_of_a_plain_png_are_known_beforehand() -> None:
    data = plain_png(np.array([[[1, 2, 3]]], np.uint8))
    content = b"\0\1\2\3"
    assert data[41:].startswith(b"\x78\x01\x01" + struct.pack("<HH", 4, 4 ^ 0xFFFF) + content)


@pytest.mark.parametrize(
    ("size", "after"),
    [((300, 200), (150, 100)), ((200, 300), (100, 150)), ((120, 90), (120, 90)), ((150, 1), (150, 1))],
)
def test_the_long_side_is_limited_and_nothing_is_enlarged(size: tuple[int, int], after: tuple[int, int]) -> None:
    assert probe(at_most(file_bytes(picture(*size)), 150)) == ("image/png", *after)


def test_a_photograph_is_turned_upright_before_it_is_scaled() -> None:
    turned = decode(at_most(jpeg(80, 40, orientation=6), 80)).pixels
    upright = decode(jpeg(80, 40)).pixels
    np.testing.assert_array_equal(turned, np.rot90(upright, 3))


def test_the_square_is_cut_around_the_focus_and_stays_inside() -> None:
    pixels = np.zeros((100, 300, 3), np.uint8)
    pixels[:, :100], pixels[:, 100:200], pixels[:, 200:] = (255, 0, 0), (0, 255, 0), (0, 0, 255)
    data = file_bytes(pixels)

    def colour(focus: tuple[float, float]) -> tuple[int, ...]:
        cut = decode(square(data, 100, focus)).pixels
        assert cut.shape == (100, 100, 3)
        return tuple(int(one) for one in cut.reshape(-1, 3).mean(axis=0))

    assert colour((0.5, 0.5)) == (0, 255, 0)
    assert colour((0.0, 0.5)) == colour((1 / 6, 0.9)) == (255, 0, 0)
    assert colour((1.0, 0.0)) == (0, 0, 255)


def test_the_short_side_is_scaled_to_the_side_of_the_square() -> None:
    pixels = picture(90, 60)
    whole = np.asarray(Image.fromarray(pixels).resize((60, 40), Image.Resampling.LANCZOS))
    np.testing.assert_array_equal(decode(square(file_bytes(pixels), 40)).pixels, whole[:, 10:50])


def test_a_picture_that_is_too_small_for_the_square_is_refused() -> None:
    with pytest.raises(StudyError, match=r"image 'a' has 90 × 60 pixels, too few for a square of 61"):
        square(file_bytes(picture(90, 60)), 61, what="image 'a'")
