"""Sizes that GPT Image models make: three fixed ones, or since gpt-image-2 nearly any."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from convergebench.editors.providers.proportions import aspect_ratio
from convergebench.errors import StudyError

STEP = 16
"""Both sides are multiples of this."""
LEAST, MOST = 655_360, 3840 * 2160
"""Pixels of one image."""
EDGE = 3840
WIDEST = 3.0
"""Of the longer side to the shorter."""
AREAS = {"1K": 1024 * 1024, "2K": 2560 * 1440, "4K": 3840 * 2160}
"""Pixels of a resolution. 2560 × 1440 is as far as they go without calling it experimental, 3840 × 2160 the end."""


class Size(NamedTuple):
    """In pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"

    @property
    def possible(self) -> bool:
        """Whether a model of any size makes this one."""
        return (
            self.width % STEP == self.height % STEP == 0
            and LEAST <= self.width * self.height <= MOST
            and max(self) <= EDGE
            and max(self) <= WIDEST * min(self)
        )


FIXED = (Size(1024, 1024), Size(1536, 1024), Size(1024, 1536))
FIXED_ASPECTS = ("1:1", "3:2", "2:3")


def any_size(painter: str) -> bool:
    """Whether a model makes images of any size within the bounds."""
    return painter.startswith("gpt-image-2")


def fixed_sizes(painter: str) -> bool:
    """Whether a model makes the three fixed sizes alone."""
    return painter.startswith(("gpt-image-1", "chatgpt-image"))


def honoured(
    painter: str, resolutions: tuple[str, ...], aspects: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of these resolutions and aspects that can be asked of a model."""
    if any_size(painter):
        return resolutions, aspects
    if fixed_sizes(painter):
        return tuple(one for one in resolutions if one == "1K"), tuple(one for one in aspects if one in FIXED_ASPECTS)
    return (), ()


def size_for(painter: str, own: Size, resolution: str | None, aspect: str | None) -> str:
    """What to ask for: the input's own size and shape, unless the settings say otherwise."""
    ratio = own.width / own.height if aspect is None else aspect_ratio(aspect)
    if any_size(painter):
        return str(nearest(ratio, AREAS[resolution] if resolution else own.width * own.height))
    if fixed_sizes(painter):
        return str(min(FIXED, key=lambda size: abs(math.log(size.width / size.height / ratio))))
    return "auto"  # a model nobody has told us about


def nearest(ratio: float, area: float) -> Size:
    """The possible size that comes nearest to a shape and a number of pixels."""
    ratio = min(max(ratio, 1 / WIDEST), WIDEST)
    area = min(max(area, LEAST), MOST, EDGE * EDGE * min(ratio, 1 / ratio))
    ideal = math.sqrt(area * ratio), math.sqrt(area / ratio)
    widths, heights = ([STEP * (int(side / STEP) + more) for more in (-1, 0, 1, 2)] for side in ideal)
    sizes = [size for width in widths for height in heights if (size := Size(width, height)).possible]
    return min(sizes, key=lambda size: abs(math.log(size.width / ideal[0])) + abs(math.log(size.height / ideal[1])))


def resolution_of(size: str) -> str:
    """The smallest resolution with as many pixels as `1536x1024`; nothing for `auto`."""
    width, _, height = size.partition("x")
    pixels = int(width) * int(height) if height else math.inf
    return next((name for name, area in AREAS.items() if pixels <= area), "")


def checked_size(given: str, painter: str) -> None:
    """A size that a user states, or what to type."""
    if given == "auto":
        return
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", given)
    size = Size(int(match[1]), int(match[2])) if match else Size(0, 0)
    if any_size(painter):
        if not size.possible:
            raise StudyError(
                f"{painter} does not make size = '{given}'; both sides are multiples of {STEP}, at most {EDGE}, their "
                f"ratio at most 3:1, {LEAST} to {MOST} pixels in all, such as 1024x1024"
            )
    elif match is None or (fixed_sizes(painter) and size not in FIXED):
        raise StudyError(f"{painter} does not make size = '{given}'; use {', '.join(map(str, FIXED))} or auto")
