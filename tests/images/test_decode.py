import io
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms

from convergebench.errors import StudyError
from convergebench.images.decode import decode, probe
from convergebench.images.encode import encode_png
from tests.images.samples import deep_png, file_bytes, picture, png_chunk, png_header

PIXELS = picture()
LOSSLESS = ("PNG", "BMP", "TIFF")


@pytest.mark.parametrize("kind", LOSSLESS)
def test_lossless_formats_give_exactly_their_pixels(kind: str) -> None:
    np.testing.assert_array_equal(decode(file_bytes(PIXELS, kind)).pixels, PIXELS)


def test_lossless_webp_gives_exactly_its_pixels() -> None:
    np.testing.assert_array_equal(decode(file_bytes(PIXELS, "WEBP", lossless=True)).pixels, PIXELS)


@pytest.mark.parametrize("kind", ["JPEG", "WEBP", "AVIF"])
def test_lossy_formats_decode_as_pillow_does(kind: str) -> None:
    data = file_bytes(PIXELS, kind, quality=90)
    np.testing.assert_array_equal(decode(data).pixels, np.array(Image.open(io.BytesIO(data)).convert("RGB")))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 99), st.integers(0, 9))
def test_encoded_pixels_come_back_unchanged(width: int, height: int, seed: int, compression: int) -> None:
    pixels = picture(width, height, seed=seed)
    data = encode_png(pixels, compression)
    assert encode_png(pixels, compression) == data
    np.testing.assert_array_equal(decode(data).pixels, pixels)
    np.testing.assert_array_equal(np.array(Image.open(io.BytesIO(data))), pixels)


def test_a_frame_can_be_written_to() -> None:
    for data in (encode_png(PIXELS), file_bytes(PIXELS, "JPEG")):
        decode(data).pixels[0, 0] = 7


@pytest.mark.parametrize(
    ("kind", "mime"),
    [
        ("PNG", "image/png"),
        ("JPEG", "image/jpeg"),
        ("WEBP", "image/webp"),
        ("BMP", "image/bmp"),
        ("TIFF", "image/tiff"),
        ("AVIF", "image/avif"),
        ("GIF", "image/gif"),
    ],
)
def test_probe_tells_type_and_size(kind: str, mime: str) -> None:
    assert probe(file_bytes(PIXELS, kind)) == (mime, 24, 16)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_exif_orientation_is_applied(orientation: int, kind: str) -> None:
    turned = {
        1: PIXELS,
        2: PIXELS[:, ::-1],
        3: PIXELS[::-1, ::-1],
        4: PIXELS[::-1],
        5: PIXELS.transpose(1, 0, 2),
        6: np.rot90(PIXELS, -1),
        7: PIXELS[::-1, ::-1].transpose(1, 0, 2),
        8: np.rot90(PIXELS, 1),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = file_bytes(
        PIXELS, kind, exif=exif.tobytes(), **({"quality": 100, "subsampling": 0} if kind == "JPEG" else {})
    )
    frame = decode(data)
    assert frame.pixels.shape == turned.shape
    assert np.abs(frame.pixels.astype(int) - turned).max() <= (12 if kind == "JPEG" else 0)
    assert probe(data)[1:] == frame.size


def test_grey_palette_and_one_bit_images_become_rgb() -> None:
    grey = Image.fromarray(PIXELS).convert("L")
    np.testing.assert_array_equal(decode(file_bytes(grey)).pixels, np.array(grey.convert("RGB")))
    palette = Image.fromarray(PIXELS).quantize(16)
    np.testing.assert_array_equal(decode(file_bytes(palette)).pixels, np.array(palette.convert("RGB")))
    bits = grey.convert("1")
    assert set(np.unique(decode(file_bytes(bits)).pixels)) == {0, 255}


def test_cmyk_becomes_rgb() -> None:
    data = file_bytes(Image.fromarray(PIXELS).convert("CMYK"), "JPEG", quality=100)
    assert np.abs(decode(data).pixels.astype(int) - PIXELS).mean() < 4


def test_sixteen_bit_grey_is_rounded() -> None:
    values = np.array([[0, 127, 128, 129, 257, 385, 386, 65535]], np.uint16)
    frame = decode(file_bytes(Image.fromarray(values)))
    assert frame.pixels[0, :, 0].tolist() == [0, 0, 0, 1, 1, 1, 2, 255]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 65535), min_size=3, max_size=30))
def test_sixteen_bit_colour_is_rounded_not_cut(values: list[int]) -> None:
    samples = np.resize(np.array(values, np.uint16), (1, -(-len(values) // 3), 3))
    expected = np.floor(samples / 257 + 0.5).astype(np.uint8)
    np.testing.assert_array_equal(decode(deep_png(samples)).pixels, expected)


def test_float_samples_are_refused() -> None:
    data = file_bytes(Image.fromarray(np.ones((4, 4), np.float32)), "TIFF")
    with pytest.raises(StudyError, match="scan has 32-bit samples"):
        decode(data, what="scan")


def with_alpha(lowest: int) -> bytes:
    alpha = np.full((16, 24, 1), 255, np.uint8)
    alpha[3, 5] = lowest
    return file_bytes(np.concatenate([PIXELS, alpha], axis=-1))


def test_an_opaque_alpha_channel_is_dropped() -> None:
    np.testing.assert_array_equal(decode(with_alpha(255)).pixels, PIXELS)


def test_transparency_is_refused_and_says_what_to_do() -> None:
    with pytest.raises(StudyError, match=r"logo has transparent pixels.*save it without transparency"):
        decode(with_alpha(254), what="logo")


@pytest.mark.parametrize(("behind", "value"), [("white", 255), ("black", 0)])
def test_transparency_is_flattened_when_asked(behind: str, value: int) -> None:
    pixels = decode(with_alpha(0), alpha="white" if behind == "white" else "black").pixels
    assert pixels[3, 5].tolist() == [value] * 3
    np.testing.assert_array_equal(pixels[4:], PIXELS[4:])


def test_a_transparent_palette_entry_counts_as_transparency() -> None:
    data = file_bytes(Image.fromarray(PIXELS).quantize(8), transparency=0)
    with pytest.raises(StudyError, match="transparent"):
        decode(data)


def test_a_transparent_colour_of_an_rgb_png_counts_as_transparency() -> None:
    data = file_bytes(PIXELS, transparency=tuple(int(v) for v in PIXELS[0, 0]))
    with pytest.raises(StudyError, match="transparent"):
        decode(data)


def test_another_colour_space_is_converted_to_srgb() -> None:
    grey_balanced = np.full((8, 8, 3), 128, np.uint8)
    linear = ImageCms.createProfile("XYZ")
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    np.testing.assert_array_equal(decode(file_bytes(grey_balanced, icc_profile=srgb)).pixels, grey_balanced)
    # a profile of another colour space than the samples cannot be meant for them
    other = ImageCms.ImageCmsProfile(linear).tobytes()
    np.testing.assert_array_equal(decode(file_bytes(grey_balanced, icc_profile=other)).pixels, grey_balanced)


def swapped_profile() -> bytes:
    """sRGB with its red and green primaries exchanged, under a name of its own."""
    data = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, green = data.index(b"rXYZ"), data.index(b"gXYZ")
    data[red : red + 4], data[green : green + 4] = b"gXYZ", b"rXYZ"
    return bytes(data).replace("sRGB".encode("utf-16-be"), "swap".encode("utf-16-be"))


def test_an_embedded_profile_is_honoured() -> None:
    swapped = PIXELS[..., [1, 0, 2]]
    decoded = decode(file_bytes(swapped, icc_profile=swapped_profile())).pixels
    assert np.abs(decoded.astype(int) - PIXELS).max() <= 2


def test_an_unreadable_profile_is_left_aside() -> None:
    np.testing.assert_array_equal(decode(file_bytes(PIXELS, icc_profile=b"nonsense")).pixels, PIXELS)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "TIFF", "PNG"])
def test_animations_and_pages_are_refused(kind: str) -> None:
    frames = [Image.fromarray(picture(seed=seed)) for seed in range(3)]
    data = file_bytes(frames[0], kind, save_all=True, append_images=frames[1:])
    with pytest.raises(StudyError, match="clip has 3 frames"):
        decode(data, what="clip")


def test_a_camera_file_with_a_second_view_is_its_first_view() -> None:
    views = [Image.fromarray(picture(seed=seed)) for seed in range(2)]
    data = file_bytes(views[0], "MPO", save_all=True, append_images=views[1:])
    assert probe(data).mime == "image/jpeg"
    np.testing.assert_array_equal(decode(data).pixels, np.array(Image.open(io.BytesIO(data))))


def test_a_single_pixel_is_an_image() -> None:
    assert decode(encode_png(picture(1, 1))).size == (1, 1)


def test_empty_bytes_are_told() -> None:
    for function in (decode, probe):
        with pytest.raises(StudyError, match=r"a\.png is empty"):
            function(b"", what="a.png")


def test_something_else_is_told() -> None:
    with pytest.raises(StudyError, match="page is not a readable image"):
        decode(b"<html>not found</html>", what="page")


@pytest.mark.parametrize("colour", [2, 6])
def test_a_bomb_is_refused_by_its_header(colour: int) -> None:
    data = png_header(60_000, 60_000, colour=colour) + png_chunk(b"IDAT", b"") + png_chunk(b"IEND", b"")
    for function in (decode, probe):
        with pytest.raises(StudyError, match="bomb claims 60000 × 60000 pixels"):
            function(data, what="bomb")


def test_a_bomb_in_another_format_is_refused_without_a_warning() -> None:
    data = bytearray(file_bytes(PIXELS, "BMP"))
    data[18:26] = (12_000).to_bytes(4, "little") * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(StudyError, match="claims 12000 × 12000"):
            decode(bytes(data))
        data[18:26] = (60_000).to_bytes(4, "little") * 2
        with pytest.raises(StudyError, match="claims far more"):
            decode(bytes(data))


def test_the_limit_can_be_set() -> None:
    with pytest.raises(StudyError, match="more than the 100 allowed"):
        decode(encode_png(PIXELS), max_pixels=100)


def test_a_flipped_bit_in_a_png_is_found() -> None:
    data = bytearray(encode_png(PIXELS))
    data[data.index(b"IDAT") + 20] ^= 1
    with pytest.raises(StudyError, match="a checksum does not match"):
        decode(bytes(data))


WHOLE = {
    "PNG": encode_png(PIXELS),
    "grey PNG": file_bytes(Image.fromarray(PIXELS).convert("L")),
    "deep PNG": deep_png(PIXELS.astype(np.uint16) * 200),
    "JPEG": file_bytes(PIXELS, "JPEG"),
    "progressive JPEG": file_bytes(PIXELS, "JPEG", progressive=True),
    "WEBP": file_bytes(PIXELS, "WEBP"),
    "BMP": file_bytes(PIXELS, "BMP"),
    "TIFF": file_bytes(PIXELS, "TIFF", compression="tiff_lzw"),
    "AVIF": file_bytes(PIXELS, "AVIF"),
    "GIF": file_bytes(PIXELS, "GIF"),
}


def decode_error(data: bytes) -> str | None:
    """What decode says is wrong; None when it decodes. Anything but a StudyError fails the test."""
    try:
        decode(data, what="part", max_pixels=10_000)
    except StudyError as error:
        return str(error)
    return None


@pytest.mark.parametrize("kind", WHOLE)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(share=st.floats(0, 1))
def test_any_beginning_of_a_file_decodes_or_is_told(kind: str, share: float) -> None:
    data = WHOLE[kind]
    fault = decode_error(data[: int(len(data) * share)])
    assert fault is None or (fault.startswith("part ") and "\n" not in fault)
    assert share < 1 or fault is None


@pytest.mark.parametrize("kind", ["PNG", "grey PNG", "deep PNG", "WEBP", "BMP", "AVIF"])
def test_a_file_that_lacks_its_last_quarter_is_never_taken_for_whole(kind: str) -> None:
    data = WHOLE[kind]
    with pytest.raises(StudyError):
        decode(data[: len(data) * 3 // 4])


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(WHOLE)), st.integers(0, 10_000), st.integers(1, 255))
def test_any_damaged_byte_decodes_or_is_told(kind: str, place: int, change: int) -> None:
    data = bytearray(WHOLE[kind])
    data[place % len(data)] ^= change
    fault = decode_error(bytes(data))
    assert fault is None or (fault.startswith("part ") and "\n" not in fault)
