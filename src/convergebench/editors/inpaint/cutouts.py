"""Cut-outs of real objects: shipped as they are, or cut with a shipped mask from a photograph that is fetched."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from convergebench.documents import Strict, read_document
from convergebench.errors import Prerequisite
from convergebench.images.frame import Pixels
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import locate

DATA = Path(__file__).parent / "data"
SOLID = 0.95
"""Opacity from which on a pixel shows nothing of the photograph's background."""

Alpha = NDArray[np.float32]
"""Height × width, 0 (clear) to 1 (opaque)."""


class CutoutOrigin(Strict):
    """One cut-out, as its table in `cutouts.toml` describes it."""

    name: str
    thing: str
    file: str
    photograph: str = ""
    """The weights that hold the photograph; empty if the file has the pixels itself."""
    photograph_file: str = ""
    box: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Left, top, right and bottom in the photograph."""
    height: float = Field(0.0, ge=0)
    colour: str = ""
    called: str = ""
    """A word that asks for this one among those of its kind."""
    anchors: tuple[tuple[float, float], ...] = ()
    opening: float = 0.0
    """Width of the head that a hat fits."""
    bottom_edge: bool = False
    """The photograph ends there: it belongs at the lower edge of a picture."""
    licence: str
    credit: str
    source: str

    @model_validator(mode="after")
    def _complete(self) -> CutoutOrigin:
        if bool(self.photograph) != bool(self.photograph_file and self.box[2] > self.box[0]):
            raise ValueError("photograph, photograph_file and box must be given together")
        return self


class CutoutsFile(Strict):
    """The file `cutouts.toml`."""

    cutout: tuple[CutoutOrigin, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Cutout:
    """The pixels of an object and how opaque each is."""

    origin: CutoutOrigin
    pixels: Pixels
    alpha: Alpha


@cache
def origins() -> tuple[CutoutOrigin, ...]:
    """Every cut-out that can be had."""
    return read_document(DATA / "cutouts.toml", CutoutsFile).cutout


def photographs() -> list[str]:
    """The weights that hold the photographs."""
    return list(dict.fromkeys(one.photograph for one in origins() if one.photograph))


@cache
def checksum() -> str:
    """Changes with any cut-out."""
    total = hashlib.sha256()
    for path in sorted(DATA.iterdir()):
        total.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


@cache
def load_cutout(origin: CutoutOrigin) -> Cutout:
    """The cut-out; `Prerequisite` if its photograph is not here."""
    from PIL import Image

    with Image.open(DATA / origin.file) as image:
        if not origin.photograph:
            rgba = np.asarray(image.convert("RGBA"), np.uint8)
            pixels, alpha = rgba[..., :3], np.asarray(rgba[..., 3] / 255, np.float32)
        else:
            alpha = np.asarray(np.asarray(image.convert("L")) / 255, np.float32)
            with Image.open(_photograph(origin)) as whole:
                part = whole.convert("RGB").crop(origin.box).resize(image.size, Image.Resampling.LANCZOS)
            pixels = np.asarray(part, np.uint8)
    return Cutout(origin, _without_background(pixels, alpha), alpha)


def _photograph(origin: CutoutOrigin) -> Path:
    place = locate(origin.photograph)
    path = place / origin.photograph_file if len(find_weight(origin.photograph).files) > 1 else place
    if not path.is_file():
        raise Prerequisite(f"{path} is missing; type: cbench weights fetch {origin.photograph}")
    return path


def _without_background(pixels: Pixels, alpha: Alpha) -> Pixels:
    """Half-clear pixels get the colour of the opaque ones nearby, so that no rim of the old background shows."""
    import cv2

    solid = (alpha >= SOLID).astype(np.float32)
    if not solid.any():
        return pixels
    spread = 2.5
    weight = cv2.GaussianBlur(solid, (0, 0), spread)
    near = (
        cv2.GaussianBlur(pixels.astype(np.float32) * solid[..., None], (0, 0), spread)
        / np.maximum(weight, 1e-4)[..., None]
    )
    use = (1 - solid) * np.clip(weight / 0.05, 0, 1)
    cleaned = np.clip(pixels + (near - pixels) * use[..., None], 0, 255).round()
    return np.asarray(cleaned, np.uint8)
