"""Pictures with a face and pictures with text, for tests and for the script that wrote the golden values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from convergebench.images.frame import Pixels
from tests.metrics.pictures import box_blur, coarse, hashed, photograph, tinted

SIGNS = ("OPEN 24 HOURS", "Fresh bread, 3.50 EUR", "Please ring the bell", "No parking: Mon-Fri")
FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"


def astronaut() -> Pixels:
    return photograph("astronaut", 384, 256)


@cache
def admiral() -> Pixels:
    """Grace Hopper, as she comes with matplotlib."""
    with Image.open(Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg") as picture:
        return np.asarray(picture.convert("RGB"))


@cache
def written(
    font: str = "DejaVuSans-Bold.ttf",
    size: int = 32,
    paper: tuple[int, int, int] = (255, 255, 255),
    ink: tuple[int, int, int] = (0, 0, 0),
    turned: float = 0,
    signs: tuple[str, ...] = SIGNS,
) -> Pixels:
    """Some signs below each other."""
    picture = Image.new("RGB", (480, 480), paper)
    draw = ImageDraw.Draw(picture)
    for number, sign in enumerate(signs):
        draw.text((30, 24 + number * 1.7 * size), sign, font=ImageFont.truetype(str(FONTS / font), size), fill=ink)
    return np.array(picture.rotate(turned, resample=Image.Resampling.BICUBIC, fillcolor=paper))


FACES: Mapping[str, tuple[Callable[[], Pixels], Callable[[], Pixels]]] = {
    "face-coarse": (lambda: coarse(astronaut(), 24), astronaut),
    "face-blur": (lambda: box_blur(astronaut(), 5), astronaut),
    "face-grain": (lambda: hashed(astronaut(), 25), astronaut),
    "face-tint": (lambda: tinted(astronaut(), 20, -15, 5), astronaut),
}
"""Case → subject and reference, in whole numbers throughout."""

TEXTS: Mapping[str, Callable[[], Pixels]] = {
    "plain": written,
    "serif": lambda: written("DejaVuSerif.ttf", 26, (30, 60, 90), (240, 230, 200)),
    "small": lambda: written("DejaVuSans.ttf", 16, (250, 250, 240), (60, 20, 20)),
    "turned": lambda: written("DejaVuSans.ttf", 28, ink=(0, 0, 120), turned=6),
}
