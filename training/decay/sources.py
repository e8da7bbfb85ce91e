"""The untouched pictures that chains start from, and which of them are kept for judging.

They are the photographs of the suite `builtin`; 22 of them, chosen by a hash of the id, are for judging. The shipped
model and its table of features are older: they were made when `builtin` was at version 1, with eight photographs and 92
drawings by 28 recipes. Ids of that version keep the split that they had.
"""

from __future__ import annotations

import hashlib
import io
import re
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from convergebench.conductor.sources import choose
from convergebench.images.frame import Pixels
from convergebench.images.suite import load_suite
from convergebench.types import KINDS

Random = np.random.Generator

SIDE = 384
"""Side of the squares that learned editors wear."""

VERSION_1 = re.compile(r"(astronaut|camera|chelsea|china|coffee|flower|hubble-deep-field|rocket|[a-z-]+-\d\d)")
"""Ids of the suite's first version: its photographs, and its drawings with their numbers."""
JUDGED = (
    "coffee",
    "flower",
    "rocket",
    "kitchen",
    "moss",
    "mountain-lake",
    "painting-still-life",
    "portrait-window",
    "sand-dune",
    "street",
    "toy-blocks",
    "vase",
)
"""Photographs and recipes of version 1 that nothing was learned from: 3 photographs of 8, 9 recipes of 28."""

EXTRA = {
    "motorcycle": ("skimage", "data/motorcycle_left.png"),
    "retina": ("skimage", "data/retina.jpg"),
    "microscope": ("skimage", "data/ihc.png"),
    "gravel": ("skimage", "data/gravel.png"),
    "brick": ("skimage", "data/brick.png"),
    "grass": ("skimage", "data/grass.png"),
    "moon": ("skimage", "data/moon.png"),
    "coins": ("skimage", "data/coins.png"),
}
"""Further photographs that come inside packages; for learning only."""


def recipe(image: str) -> str:
    """`portrait-window-03` → `portrait-window`."""
    return re.sub(r"-\d+$", "", image)


def is_judged(image: str) -> bool:
    """Whether an image is kept for judging."""
    if VERSION_1.fullmatch(image):
        return recipe(image) in JUDGED
    return image not in EXTRA and hashlib.sha256(image.encode()).digest()[0] % 3 == 0


@cache
def original(image: str) -> Pixels:
    """A picture of the suite `builtin`, or one of `EXTRA`, at its own size."""
    if image in EXTRA:
        package, file = EXTRA[image]
        data = (Path(str(__import__(package).__file__)).parent / file).read_bytes()
    else:
        data = next(one for one in load_suite("builtin").images if one.id == image).read()
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), np.uint8)


@cache
def firsts() -> tuple[str, ...]:
    """Thirty-six pictures, kinds in turn."""
    return tuple(image.id for image in choose(load_suite("builtin").images, KINDS, 36))


@cache
def all_names() -> tuple[str, ...]:
    """Every picture of the suite."""
    return tuple(one.id for one in load_suite("builtin").images)


def square(image: str, side: int = SIDE) -> Pixels:
    """The middle square, shrunk or enlarged to a side."""
    picture = Image.fromarray(original(image))
    edge = min(picture.size)
    left, top = (picture.width - edge) // 2, (picture.height - edge) // 2
    cut = picture.crop((left, top, left + edge, top + edge))
    return np.asarray(cut.resize((side, side), Image.Resampling.LANCZOS), np.uint8)


def variant(image: str, random: Random) -> Pixels:
    """A random part at a random, never enlarged scale, perhaps mirrored, of 224 to 640 pixels a side."""
    picture = Image.fromarray(original(image))
    least = min(picture.size)
    scale = max(256 / least, float(random.uniform(0.45, 1.0)) if random.random() < 0.7 else 1.0)
    if scale < 1:
        size = (round(picture.width * scale), round(picture.height * scale))
        picture = picture.resize(size, Image.Resampling.LANCZOS if random.random() < 0.7 else Image.Resampling.BICUBIC)
    width, height = (int(random.integers(min(224, side), min(640, side) + 1)) for side in picture.size)
    left = int(random.integers(0, picture.width - width + 1))
    top = int(random.integers(0, picture.height - height + 1))
    pixels = np.asarray(picture, np.uint8)[top : top + height, left : left + width]
    if random.random() < 0.5:
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(pixels)


def drawn_name(random: Random, *, judged: bool) -> str:
    """A picture to start from; in training a quarter of them are further photographs."""
    kept = [name for name in all_names() if is_judged(name) == judged]
    extras = [] if judged else list(EXTRA)
    return str(random.choice(extras if extras and random.random() < 0.25 else kept))
