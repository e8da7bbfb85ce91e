"""Pictures as Python has them (paths, PIL images, numpy arrays) and as this package stores them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from convergebench.errors import StudyError
from convergebench.images.decode import decode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = str | Path | Image.Image | NDArray[Any]
    """A file, a PIL image, or RGB (or grey) pixels of 8 bits."""


def picture_bytes(picture: Picture) -> bytes:
    """The file as it is; PIL images and arrays as PNG."""
    if isinstance(picture, str | Path):
        try:
            return Path(picture).expanduser().read_bytes()
        except OSError as error:
            raise StudyError(f"cannot read {picture}: {error.strerror or error}") from error
    if isinstance(picture, np.ndarray):
        if picture.dtype != np.uint8 or picture.ndim not in (2, 3) or (picture.ndim == 3 and picture.shape[2] != 3):
            raise StudyError(
                f"an array of shape {picture.shape} and type {picture.dtype} is not an image; give uint8 of the shape "
                "height × width × 3, or height × width"
            )
        picture = Image.fromarray(picture) if picture.size else Image.new("RGB", (0, 0))
    if not isinstance(picture, Image.Image):
        shown = " ".join(repr(picture).split())[:80]
        raise StudyError(f"{shown} is not an image; give a path, a PIL image or an array of pixels")
    if 0 in picture.size:
        raise StudyError("the image has no pixels; give one that is at least 1 × 1")
    if picture.mode not in ("RGB", "RGBA", "L", "LA", "P", "1", "I;16"):
        picture = picture.convert("RGB")
    data = BytesIO()
    picture.save(data, "PNG")
    return data.getvalue()


def open_picture(data: bytes) -> Image.Image:
    """Stored bytes as an RGB image, upright, as metrics see it."""
    return Image.fromarray(decode(data).pixels)
