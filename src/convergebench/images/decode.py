"""Decode image files to pixels, the same way everywhere.

In this order: the header is checked against `max_pixels`; 16-bit samples are rounded to 8 bits; transparency is
refused or flattened, as `alpha` says; an embedded colour profile other than sRGB is converted to sRGB (an unreadable
profile is ignored); EXIF orientation is applied. Plain 8-bit RGB PNG, the format of runs, takes a faster path to the
same pixels.
"""

from __future__ import annotations

import io
import threading
import warnings
from typing import Any, Literal, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image

from convergebench.errors import StudyError
from convergebench.images.colour import to_srgb
from convergebench.images.frame import Frame, Pixels
from convergebench.images.header import SIGNATURE, Damaged, PngHeader, read_png_header

Alpha = Literal["refuse", "white", "black"]

MAX_PIXELS = 100_000_000

_FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "TIFF", "AVIF", "GIF")
_MIMES = {"MPO": "image/jpeg"}
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SIDEWAYS = frozenset({5, 6, 7, 8})
_BITS_PER_SAMPLE = 258
_OPENING = threading.Lock()


class Probe(NamedTuple):
    """Type and size of an image file. The size is the one `decode` gives, orientation applied."""

    mime: str
    width: int
    height: int


def decode(data: bytes, *, what: str = "image", max_pixels: int = MAX_PIXELS, alpha: Alpha = "refuse") -> Frame:
    """The pixels of an image file (PNG, JPEG, WebP, BMP, TIFF, AVIF, single-frame GIF) as 8-bit RGB.

    `what` names the image in errors. `alpha` is the background for transparent pixels; by default they are refused,
    since they have no colour that could be compared. Raises StudyError.
    """
    header = _png_header(data, what)
    if header is not None:
        _check_size(header.width, header.height, what=what, limit=max_pixels)
        if header.plain:
            return Frame(_decode_plain(data, what))
    with _open(data, what, max_pixels) as image:
        _refuse_several_frames(image, what)
        try:
            deep = _deep_samples(image, data, header)
            pixels = _to_rgb(image if deep is None else deep, image.info.get("icc_profile"), alpha)
            upright = _upright(pixels, _orientation(image))
        except _Transparent as error:
            raise StudyError(
                f"{what} has transparent pixels, which have no colour to compare; save it without transparency "
                '(in Python: decode(…, alpha="white") sets the background)'
            ) from error
        except _Unsupported as error:
            raise StudyError(f"{what} {error}; save it as 8 or 16 bit PNG") from error
        except Exception as error:  # decoders raise nearly anything on damaged bytes
            raise StudyError(f"{what} cannot be decoded: it is damaged or cut short ({_brief(error)})") from error
    return Frame(upright)


def probe(data: bytes, *, what: str = "image", max_pixels: int = MAX_PIXELS) -> Probe:
    """MIME type, width and height from the header alone. Raises StudyError like `decode`."""
    header = _png_header(data, what)
    if header is not None and not header.special & {b"eXIf", b"acTL"}:
        _check_size(header.width, header.height, what=what, limit=max_pixels)
        return Probe("image/png", header.width, header.height)
    with _open(data, what, max_pixels) as image:
        width, height = image.size
        if _orientation(image) in _SIDEWAYS:
            width, height = height, width
        name = image.format or ""
        return Probe(_MIMES.get(name) or Image.MIME[name], width, height)


class _Transparent(Exception):
    pass


class _Unsupported(Exception):
    pass


def _png_header(data: bytes, what: str) -> PngHeader | None:
    if not data:
        raise StudyError(f"{what} is empty (0 bytes)")
    if not data.startswith(SIGNATURE):
        return None
    try:
        return read_png_header(data)
    except Damaged as error:
        raise StudyError(f"{what} {error}; download or copy it again") from error


def _decode_plain(data: bytes, what: str) -> Pixels:
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise StudyError(f"{what} cannot be decoded: its pixel data is damaged; download or copy it again")
    return cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB).view(np.uint8)


def _open(data: bytes, what: str, max_pixels: int) -> Image.Image:
    # Pillow warns about big images; the lock keeps the warning filter from leaking between threads.
    try:
        with _OPENING, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
    except Image.DecompressionBombError as error:
        raise StudyError(f"{what} claims far more than {max_pixels:,} pixels and was not opened") from error
    except Exception as error:  # see decode
        raise StudyError(
            f"{what} is not a readable image ({len(data):,} bytes; expected PNG, JPEG, WebP, …)"
        ) from error
    _check_size(*image.size, what=what, limit=max_pixels)
    return image


def _check_size(width: int, height: int, *, what: str, limit: int) -> None:
    if width < 1 or height < 1:
        raise StudyError(f"{what} has no pixels ({width} × {height})")
    if width * height > limit:
        raise StudyError(f"{what} claims {width} × {height} pixels, more than the {limit:,} allowed; scale it down")


def _refuse_several_frames(image: Image.Image, what: str) -> None:
    if image.format == "MPO":  # a camera's JPEG with a second view behind the picture
        return
    try:
        frames = int(getattr(image, "n_frames", 1))
    except Exception as error:  # see decode
        raise StudyError(f"{what} cannot be decoded: it is damaged or cut short ({_brief(error)})") from error
    if frames > 1:
        raise StudyError(f"{what} has {frames} frames; only still images can be edited; save the frame you need")


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(ExifTags.Base.Orientation, 1))
    except Exception:  # unreadable EXIF counts as upright
        return 1


def _upright(image: Image.Image, orientation: int) -> Pixels:
    turn = _TURNS.get(orientation)
    return np.array(image if turn is None else image.transpose(turn), dtype=np.uint8)


def _deep_samples(image: Image.Image, data: bytes, header: PngHeader | None) -> Image.Image | None:
    """The image with 16-bit samples rounded to 8 bits; Pillow would truncate them. None if it has no such samples."""
    bits = image.tag_v2.get(_BITS_PER_SAMPLE, (8,)) if image.format == "TIFF" else ()  # type: ignore[attr-defined]
    deep = header.bit_depth == 16 if header is not None else 16 in tuple(bits)
    if not deep or image.mode.startswith("I"):
        return None
    samples = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if samples is None:
        raise ValueError("16-bit samples cannot be read")
    eight = samples.astype(np.uint8) if samples.dtype == np.uint8 else _rounded(samples)
    if eight.ndim == 2:
        return Image.fromarray(eight)
    if eight.shape[2] == 4:
        return Image.fromarray(cv2.cvtColor(eight, cv2.COLOR_BGRA2RGBA))
    return Image.fromarray(cv2.cvtColor(eight, cv2.COLOR_BGR2RGB))


def _rounded(samples: NDArray[Any]) -> Pixels:
    return ((samples.astype(np.uint32) + 128) // 257).astype(np.uint8)


def _to_rgb(image: Image.Image, profile: bytes | None, alpha: Alpha) -> Image.Image:
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PNG"):
        image = Image.fromarray(_rounded(np.asarray(image)))
    if image.mode in ("I", "F"):
        raise _Unsupported("has 32-bit samples without a known range")
    if image.has_transparency_data:
        image = _flattened(image.convert("RGBA"), alpha)
    elif image.mode not in ("L", "RGB", "CMYK", "LAB"):
        image = image.convert("RGB")
    return to_srgb(image, profile)


def _flattened(image: Image.Image, alpha: Alpha) -> Image.Image:
    lowest, _ = image.getchannel("A").getextrema()
    if lowest == 255:
        return image.convert("RGB")
    if alpha == "refuse":
        raise _Transparent
    return Image.alpha_composite(Image.new("RGBA", image.size, alpha), image).convert("RGB")


def _brief(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:120] if lines else type(error).__name__
