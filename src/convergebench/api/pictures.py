"""Pictures as Python has them (paths, PIL images, numpy arrays) and as this package stores them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from PIL import Image

from convergebench.api.calling import several
from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.folder import image_ids, slug
from convergebench.images.suite import Suite
from convergebench.types import KINDS, SourceImage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = str | Path | Image.Image | NDArray[Any]
    """A file, a PIL image, or RGB (or grey) pixels of 8 bits."""


def is_picture(value: object) -> TypeGuard[Picture]:
    """Whether this is one picture, and not several."""
    return isinstance(value, str | Path | Image.Image | np.ndarray)


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
                f"an array of shape {picture.shape} and type {picture.dtype} is not an image; give uint8 of shape "
                f"height × width × 3 or height × width"
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


def source_images(pictures: Sequence[Picture] | Mapping[str, Picture], kind: str = "scene") -> tuple[SourceImage, ...]:
    """Pictures as the images that a study starts from; a mapping names them, files have their names already."""
    known = next((one for one in KINDS if one == kind), None)
    if known is None:
        raise StudyError(f"kind = '{kind}' is not one of {', '.join(KINDS)}")
    given = several(pictures, "images") if not isinstance(pictures, Mapping) else ()
    named = dict(pictures) if isinstance(pictures, Mapping) else dict(zip(_names(given), given, strict=True))
    if not named:
        raise StudyError("there is no image; give at least one")
    found = []
    for name, picture in named.items():
        data = picture_bytes(picture)
        frame = decode(data, what=f"image '{name}'")
        found.append(
            SourceImage(
                id=slug(str(name)),
                kind=known,
                sha256=hashlib.sha256(data).hexdigest(),
                width=frame.width,
                height=frame.height,
                licence="not stated",
                source="given from Python",
                read=lambda data=data: data,  # type: ignore[misc]
            )
        )
    return Suite("images", tuple(found)).images


def _names(pictures: Sequence[Picture]) -> list[str]:
    places = [
        Path(one) if isinstance(one, str | Path) else Path(f"image-{index}") for index, one in enumerate(pictures)
    ]
    return image_ids(places)
