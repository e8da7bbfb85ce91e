"""Pictures of a chain side by side, with the number of their steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from PIL import Image, ImageDraw, ImageFont

MOST_STEPS = 8
"""Pictures in a row, unless steps are named."""
GAP, CAPTION = 4, 16
"""Pixels between pictures, and of the line below them."""
PAPER, INK = "#ffffff", "#333333"

T = TypeVar("T")


class StripRow(NamedTuple):
    """The pictures of one editor, each with its caption."""

    title: str
    pictures: tuple[tuple[str, Image.Image], ...]


def evenly(values: Sequence[T], most: int) -> list[T]:
    """At most so many of them, the first and the last included, at even distances."""
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


def draw_strip(rows: Sequence[StripRow], height: int) -> Image.Image:
    """One row below the other, every picture of this height; small pictures are not enlarged."""
    height = min(height, max((one.height for row in rows for _, one in row.pictures), default=height))
    scaled = [
        [(caption, picture.resize((max(1, round(picture.width * height / picture.height)), height)))
         for caption, picture in row.pictures]
        for row in rows
    ]  # fmt: skip
    width = max((sum(one.width + GAP for _, one in row) for row in scaled), default=0) + GAP
    whole = Image.new("RGB", (width, len(rows) * (height + 2 * CAPTION + GAP)), PAPER)
    draw, font = ImageDraw.Draw(whole), ImageFont.load_default()
    top = 0
    for row, pictures in zip(rows, scaled, strict=True):
        draw.text((GAP, top + 2), row.title, fill=INK, font=font)
        left = GAP
        for caption, picture in pictures:
            whole.paste(picture, (left, top + CAPTION))
            draw.text((left, top + CAPTION + height + 2), caption, fill=INK, font=font)
            left += picture.width + GAP
        top += height + 2 * CAPTION + GAP
    return whole
