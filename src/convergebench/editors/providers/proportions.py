"""The size to request: the image's own or the study's, or the closest that the provider allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from convergebench.errors import StudyError
from convergebench.images.decode import probe
from convergebench.types import Settings

AREAS = {"1K": 1024**2, "2K": 2048**2, "3K": 3072**2, "4K": 4096**2}
"""Total pixels; the sides follow from the aspect."""
ENDLESS = 1 << 30


@dataclass(frozen=True, slots=True)
class AllowedSizes:
    """Sizes that a provider accepts."""

    least: int = 1
    """Total pixels."""
    most: int = ENDLESS
    shortest: int = 1
    longest: int = ENDLESS
    step: int = 1
    """Both sides are multiples of this."""


def requested_size(image: bytes, settings: Settings, allowed: AllowedSizes) -> tuple[int, int]:
    """Width and height: `settings.resolution` and `settings.aspect` where they are set, else the image's own."""
    own = probe(image)
    ratio = aspect_ratio(settings.aspect) if settings.aspect else own.width / own.height
    if settings.resolution and settings.resolution not in AREAS:
        raise StudyError(f"'{settings.resolution}' is not a resolution; use one of {', '.join(AREAS)}")
    area = AREAS[settings.resolution] if settings.resolution else own.width * own.height
    return nearest_size(ratio, float(area), allowed)


def nearest_size(ratio: float, area: float, allowed: AllowedSizes) -> tuple[int, int]:
    """Width and height of about this ratio and area; if a side would be out of bounds, the ratio changes.

    Applied to its own result it changes nothing, so a chain does not shrink or stretch over time.
    """
    area = min(max(area, allowed.least), allowed.most)
    width, height = math.sqrt(area * ratio), math.sqrt(area / ratio)
    grown = max(1.0, allowed.shortest / min(width, height))
    shrunk = min(1.0, allowed.longest / (max(width, height) * grown))
    width, height = (min(max(side * grown * shrunk, allowed.shortest), allowed.longest) for side in (width, height))
    if width * height < allowed.least:  # the longer side is at its limit, so the shorter one must grow
        short = min(allowed.least / max(width, height), allowed.longest)
        width, height = max(width, short), max(height, short)
    choice = [(w, h) for w in _multiples_near(width, allowed) for h in _multiples_near(height, allowed)]
    fitting = [size for size in choice if allowed.least <= size[0] * size[1] <= allowed.most]
    return min(fitting or choice, key=lambda size: _difference(size, width, height))


def aspect_ratio(aspect: str) -> float:
    """`16:9` as a number."""
    width, _, height = aspect.partition(":")
    try:
        return float(width) / float(height)
    except (ValueError, ZeroDivisionError) as error:
        raise StudyError(f"'{aspect}' is not an aspect ratio; write it as 16:9") from error


def _multiples_near(side: float, allowed: AllowedSizes) -> list[int]:
    """The multiples just below and above a side."""
    step, exact = allowed.step, round(side / allowed.step, 6)
    lowest, highest = -(-allowed.shortest // step) * step, allowed.longest // step * step
    return sorted({min(max(way(exact) * step, lowest), highest) for way in (math.floor, math.ceil)})


def _difference(size: tuple[int, int], width: float, height: float) -> float:
    """How far a size is from the requested one. A changed aspect counts twice, since it distorts."""
    wide, high = math.log(size[0] / width), math.log(size[1] / height)
    return 2 * abs(wide - high) + abs(wide + high)
