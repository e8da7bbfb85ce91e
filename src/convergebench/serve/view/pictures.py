"""Images, thumbnails, tiles and maps, one method per address."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from convergebench.serve.guard import Refusal
from convergebench.serve.view.maps import DrawnMap, draw_map
from convergebench.serve.view.pixels import SIZES, Bounded, RunImages
from convergebench.serve.view.replies import ASK, data_reply, file_reply
from convergebench.serve.view.shelf import RunShelf
from convergebench.serve.view.tiles import TILE, levels, tile
from convergebench.serve.view.worn import draw_worn

KEPT_MAPS = 48 * 2**20
"""Bytes of maps that are kept."""
SAFE = ("image/png", "image/jpeg", "image/webp", "image/bmp", "image/tiff", "image/avif", "image/gif")
_PLACE = re.compile(r"(\d{1,5})_(\d{1,5})\.webp", re.ASCII)
_MAP = re.compile(r"([a-z]{1,20})\.(png|json)")
_WORN = re.compile(r"([0-9a-f]{64})\.(png|json)")


class ViewPictures:
    """Safe to call from any thread."""

    def __init__(self, shelf: RunShelf) -> None:
        self._shelf, self._images = shelf, RunImages()
        self._maps: Bounded[tuple[Any, ...], DrawnMap] = Bounded(KEPT_MAPS, lambda drawn: len(drawn.png))
        self._worn: Bounded[tuple[Path, str], DrawnMap] = Bounded(KEPT_MAPS, lambda drawn: len(drawn.png))

    def image(self, request: Request) -> Response:
        """The bytes as stored."""
        root, image = self._shelf.root(request.path_params["run"]), request.path_params["image"]
        found = self._images.stored(root, image)
        kind = found.mime if found.mime in SAFE else "application/octet-stream"
        return file_reply(request, found.data, kind, tag=image)

    def thumbnail(self, request: Request) -> Response:
        """A small copy."""
        root, image = self._shelf.root(request.path_params["run"]), request.path_params["image"]
        size = request.query_params.get("size", str(SIZES[1]))
        if set(request.query_params) - {"size"} or size not in map(str, SIZES):
            raise Refusal(400, f"size is one of {', '.join(map(str, SIZES))}.")
        data = self._images.thumbnail(root, image, int(size))
        return file_reply(request, data, "image/webp", tag=f"{image[:20]}-{size}")

    def tiling(self, request: Request) -> Response:
        """How an image is cut into tiles."""
        image, mark, end = request.path_params["image"].rpartition(".")
        if not mark or end != "json":
            raise Refusal(404, "There is no such page.")
        row = self._images.row(self._shelf.root(request.path_params["run"]), image)
        facts = {"width": row.width, "height": row.height, "tile": TILE, "levels": levels(row.width, row.height)}
        return data_reply(request, facts)

    def tile(self, request: Request) -> Response:
        """One tile."""
        parts = request.path_params
        place, level = _PLACE.fullmatch(parts["place"]), str(parts["level"])
        if place is None or not re.fullmatch(r"\d{1,2}", level, re.ASCII):
            raise Refusal(404, "There is no such tile.")
        frame = self._images.frame(self._shelf.root(parts["run"]), parts["image"])
        data = tile(frame.pixels, int(level), int(place[1]), int(place[2]))
        return file_reply(request, data, "image/webp", tag=f"{parts['image'][:20]}-{level}-{place[1]}-{place[2]}")

    def map(self, request: Request) -> Response:
        """A map of where two images differ, or what its colours mean."""
        parts = request.path_params
        found = _MAP.fullmatch(parts["file"])
        gain = request.query_params.get("gain", "4")
        if found is None:
            raise Refusal(404, "There is no such page.")
        if set(request.query_params) - {"gain"} or not re.fullmatch(r"\d{1,2}", gain, re.ASCII):
            raise Refusal(400, "gain is one of 1, 2, 4, 8, 16, 32.")
        root, key = self._shelf.root(parts["run"]), (parts["image"], parts["other"], found[1], int(gain))
        drawn = self._maps.get(
            (root, *key),
            lambda: draw_map(
                found[1],
                self._images.frame(root, parts["image"]),
                self._images.frame(root, parts["other"]),
                int(gain),
            ),
        )
        if found[2] == "json":
            return data_reply(request, drawn.facts)
        tag = "-".join((parts["image"][:12], parts["other"][:12], found[1], gain))
        scale = f"{drawn.facts['low']:g} {drawn.facts['high']:g}"
        return file_reply(request, drawn.png, "image/png", tag=tag, headers={"x-scale": scale})

    def worn(self, request: Request, *, known: bool = False) -> Response | None:
        """A map of where an image is worn, or what its colours mean; None if only a `known` one is asked for."""
        found = _WORN.fullmatch(request.path_params["worn"])
        if found is None:
            raise Refusal(404, "There is no such page.")
        if request.query_params:
            raise Refusal(400, "This map has no parameters.")
        root, image = self._shelf.root(request.path_params["run"]), found[1]
        self._images.row(root, image)
        drawn = self._worn.kept((root, image))
        if drawn is None:
            if known:
                return None
            drawn = self._worn.get((root, image), lambda: draw_worn(self._images.frame(root, image)))
        if found[2] == "json":
            return data_reply(request, drawn.facts)
        tag = hashlib.sha256(drawn.png).hexdigest()[:20]
        return file_reply(request, drawn.png, "image/png", tag=tag, cache=ASK)  # a new model draws another map
