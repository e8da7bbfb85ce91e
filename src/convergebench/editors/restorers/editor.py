"""A restoration network as an editor: restores the image at its own size and ignores the instruction."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from threading import Lock
from typing import Annotated, Any, Literal

import numpy as np
from PIL import Image
from pydantic import Field

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.base import BaseEditor, cpu_limits
from convergebench.editors.restorers.network import NcnnLayout, NcnnNetwork, Values
from convergebench.errors import Prerequisite
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.types import Capabilities, Edited, EditRequest
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import identity, locate, missing, search

VERSION = 1
"""Incremented whenever the output pixels change; part of every fingerprint."""
MOST_AT_ONCE = 8
"""Most calls at once: a tile takes up to 0.8 GB of memory (a heavy model's 1.6 GB)."""

Shrink = Literal["before", "both", "after"]


@dataclass(frozen=True, slots=True)
class RestorerModel:
    """The definition of a named restorer."""

    weight: str
    shape: NcnnLayout
    tile: int
    """Longest side of a tile, in pixels of the network's input."""
    seconds: float
    """Approximate time for 512 × 512 pixels on one core."""
    shrink: Shrink = "after"
    """For a network that enlarges: shrink the picture before it, so that detail is invented, or its output after it.

    `both` halves the picture before it, and shrinks the rest of the way after it.
    """
    heavy: bool = False
    """Needs so much memory that calls run one by one, each on all cores."""


class RestorerOptions(Strict):
    """Options of a restorer."""

    threads: Annotated[int, Field(ge=1, le=256)] | None = None
    """Cores per call; the bytes do not depend on it. Unset: one, and as many calls at once as there are cores."""
    tile: Annotated[int, Field(ge=32, le=4096)] | None = None
    """Smaller takes less memory."""


class EnlargingOptions(RestorerOptions):
    """Options of a network that enlarges."""

    shrink: Shrink | None = None
    """Shrink `before` the network, which then invents detail, or `after` it, which costs scale² times as much.

    `both` halves before and shrinks the rest after it; with a network that enlarges twice it is the same as `before`.
    """


class RestorerEditor(BaseEditor):
    """Restores images. Equal images give equal bytes, for any number of parallel calls and cores."""

    def __init__(self, name: str, model: RestorerModel, options: Mapping[str, Any]) -> None:
        kind = EnlargingOptions if model.shape.scale > 1 else RestorerOptions
        given = check_document(options, kind, where=f"editor '{name}'")
        self.name = name
        self.model = model
        self.weights = (model.weight,)
        self.tile = given.tile or model.tile
        self.shrink: Shrink = getattr(given, "shrink", None) or model.shrink
        cores = os.cpu_count() or 1
        self.threads = given.threads or (cores if model.heavy else 1)
        chosen = {"weights": identity(model.weight), "tile": self.tile, "shrink": self.shrink}
        self.fingerprint = ids.fingerprint(model.weight, VERSION, chosen)
        self.capabilities = Capabilities(deterministic=True, instructed=False, seconds_per_call=model.seconds)
        at_once = 1 if model.heavy else max(1, min(MOST_AT_ONCE, cores // self.threads))
        self.limits = cpu_limits(at_once=at_once)
        self._network: NcnnNetwork | None = None
        self._lock = Lock()

    def lacks(self) -> list[str]:
        """Missing ncnn and weights."""
        found = []
        if find_spec("ncnn") is None:
            found.append('ncnn is not installed; type: pip install "convergebench[restorers]"')
        if search(find_weight(self.model.weight)) is None:
            found.append(missing(find_weight(self.model.weight)))
        return found

    async def edit(self, request: EditRequest) -> Edited:
        """One restoration, in a thread."""
        return await asyncio.to_thread(self._edit, request.image)

    async def close(self) -> None:
        """Unload the network; a later call loads it again."""
        with self._lock:
            self._network = None

    def _edit(self, image: bytes) -> Edited:
        pixels = decode(image, what=f"the image given to {self.name}", alpha="white").pixels
        restored = self._restored(self._loaded(), pixels)
        used = {
            "weights": self.model.weight,
            "ncnn": version("ncnn"),
            "tile": self.tile,
            **({"shrink": self.shrink} if self.model.shape.scale > 1 else {}),
        }
        return Edited(encode_png(restored), "image/png", self.model.weight, used=used)

    def _restored(self, network: NcnnNetwork, pixels: Pixels) -> Pixels:
        height, width = pixels.shape[:2]
        scale = self.model.shape.scale
        if self.shrink != "after" and scale > 1:
            smaller = scale if self.shrink == "before" else 2
            # padded first, so that a side that is not a multiple is not stretched
            filled = np.pad(pixels, ((0, -height % smaller), (0, -width % smaller), (0, 0)), mode="reflect")
            small = _resized(filled, filled.shape[1] // smaller, filled.shape[0] // smaller)
            large = _levels(network(_values(small), tile=self.tile))
            if smaller < scale:
                large = _resized(large, filled.shape[1], filled.shape[0])
            return large[:height, :width]
        restored = _levels(network(_values(pixels), tile=self.tile))
        return _resized(restored, width, height) if scale > 1 else restored

    def _loaded(self) -> NcnnNetwork:
        with self._lock:
            if self._network is None:
                missing_parts = self.lacks()
                if missing_parts:
                    raise Prerequisite(f"editor '{self.name}': " + "; ".join(missing_parts))
                folder = locate(self.model.weight)
                param, weights = (folder / file.path for file in find_weight(self.model.weight).files)
                self._network = NcnnNetwork(param, weights, self.model.shape, threads=self.threads)
            return self._network


def _values(pixels: Pixels) -> Values:
    return np.asarray(pixels / np.float32(255), np.float32)


def _levels(values: Values) -> Pixels:
    return np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)


def _resized(pixels: Pixels, width: int, height: int) -> Pixels:
    return np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.LANCZOS), np.uint8)
