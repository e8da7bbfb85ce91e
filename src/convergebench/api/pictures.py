"""Pictures as Python has them (paths, PIL images, numpy arrays), as the images that a study starts from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from PIL import Image

from convergebench.api.calling import several
from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.folder import image_ids, slug
from convergebench.images.pictures import picture_bytes
from convergebench.images.suite import Suite
from convergebench.types import KINDS, SourceImage

if TYPE_CHECKING:
    from convergebench.images.pictures import Picture


def is_picture(value: object) -> TypeGuard[Picture]:
    """Whether this is one picture, and not several."""
    return isinstance(value, str | Path | Image.Image | np.ndarray)


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
