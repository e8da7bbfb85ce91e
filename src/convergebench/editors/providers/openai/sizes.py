"""Sizes that GPT Image models make: three fixed ones, or since gpt-image-2 nearly any."""

from __future__ import annotations

import math
import re

from convergebench.editors.base import ImageSize
from convergebench.editors.providers.proportions import aspect_ratio
from convergebench.errors import StudyError

STEP = 16
"""Both sides are multiples of this."""
LEAST, MOST = 655_360, 3840 * 2160
"""Pixels of one image."""
EDGE = 3840
WIDEST = 3.0
"""Largest ratio of the longer side to the shorter."""
AREAS = {"1K": 1024 * 1024, "2K": 2560 * 1440, "4K": 3840 * 2160}
"""Pixels of a resolution. Above 2560 × 1440 sizes are experimental; 3840 × 2160 is the largest."""

FIXED = (ImageSize(1024, 1024), ImageSize(1536, 1024), ImageSize(1024, 1536))
FIXED_ASPECTS = ("1:1", "3:2", "2:3")


def is_possible(size: ImageSize) -> bool:
    """Whether a model with free sizes supports this one."""
    return (
        size.width % STEP == size.height % STEP == 0
        and LEAST <= size.width * size.height <= MOST
        and max(size) <= EDGE
        and max(size) <= WIDEST * min(size)
    )


def any_size(image_model: str) -> bool:
    """Whether a model supports any size within the bounds."""
    return image_model.startswith("gpt-image-2")


def fixed_sizes(image_model: str) -> bool:
    """Whether a model supports only the three fixed sizes."""
    return image_model.startswith(("gpt-image-1", "chatgpt-image"))


def honoured(
    image_model: str, resolutions: tuple[str, ...], aspects: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of these resolutions and aspects that a model supports."""
    if any_size(image_model):
        return resolutions, aspects
    if fixed_sizes(image_model):
        return tuple(one for one in resolutions if one == "1K"), tuple(one for one in aspects if one in FIXED_ASPECTS)
    return (), ()


def size_for(image_model: str, own: ImageSize, resolution: str | None, aspect: str | None) -> str:
    """The size to request: the input's own size and aspect, unless the settings override them."""
    ratio = own.width / own.height if aspect is None else aspect_ratio(aspect)
    if any_size(image_model):
        return str(nearest(ratio, AREAS[resolution] if resolution else own.width * own.height))
    if fixed_sizes(image_model):
        return str(min(FIXED, key=lambda size: abs(math.log(size.width / size.height / ratio))))
    return "auto"  # an unknown model


def nearest(ratio: float, area: float) -> ImageSize:
    """The supported size closest to an aspect ratio and a number of pixels."""
    ratio = min(max(ratio, 1 / WIDEST), WIDEST)
    area = min(max(area, LEAST), MOST, EDGE * EDGE * min(ratio, 1 / ratio))
    ideal = math.sqrt(area * ratio), math.sqrt(area / ratio)
    widths, heights = ([STEP * (int(side / STEP) + more) for more in (-1, 0, 1, 2)] for side in ideal)
    sizes = [size for width in widths for height in heights if is_possible(size := ImageSize(width, height))]
    return min(sizes, key=lambda size: abs(math.log(size.width / ideal[0])) + abs(math.log(size.height / ideal[1])))


def resolution_of(size: str) -> str:
    """The smallest resolution with at least as many pixels as `1536x1024`; empty for `auto`."""
    width, _, height = size.partition("x")
    pixels = int(width) * int(height) if height else math.inf
    return next((name for name, area in AREAS.items() if pixels <= area), "")


def checked_size(given: str, image_model: str) -> None:
    """`StudyError` if the model does not support the size that the user gave."""
    if given == "auto":
        return
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", given)
    size = ImageSize(int(match[1]), int(match[2])) if match else ImageSize(0, 0)
    if any_size(image_model):
        if not is_possible(size):
            raise StudyError(
                f"{image_model} does not support size = '{given}'; both sides must be multiples of {STEP}, at most "
                f"{EDGE}, "
                f"their ratio at most 3:1, {LEAST} to {MOST} pixels in all, such as 1024x1024"
            )
    elif match is None or (fixed_sizes(image_model) and size not in FIXED):
        raise StudyError(f"{image_model} does not support size = '{given}'; use {', '.join(map(str, FIXED))} or auto")
