"""Pictures and a driver shared by the editors' tests."""

from __future__ import annotations

import asyncio
import importlib
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from convergebench import edits
from convergebench.editors.simulated.pixels import Pixels, decode, encode_png
from convergebench.types import Edited, Editor, EditRequest, Settings

Run = Callable[..., Edited]
SIZE = 128


def _photograph(name: str) -> Pixels:
    data: Any = importlib.import_module("skimage.data")
    pixels: NDArray[np.uint8] = getattr(data, name)()
    side = min(pixels.shape[:2])
    top, left = (pixels.shape[0] - side) // 2, (pixels.shape[1] - side) // 2
    square = pixels[top : top + side, left : left + side, :3]
    return np.asarray(cv2.resize(square, (SIZE, SIZE), interpolation=cv2.INTER_AREA), np.uint8)


@pytest.fixture(scope="session")
def pictures() -> dict[str, Pixels]:
    """A face, an object and a scene; values kept away from black and white so that nothing clips."""
    photographs = {"face": _photograph("astronaut"), "object": _photograph("coffee"), "scene": _photograph("rocket")}
    return {kind: (64 + pixels.astype(np.uint16) // 2).astype(np.uint8) for kind, pixels in photographs.items()}


@pytest.fixture(scope="session")
def plain() -> Pixels:
    """A smooth gradient without anything on it."""
    rows, columns = np.mgrid[:SIZE, :SIZE]
    return np.stack([90 + rows // 3, 100 + columns // 4, 130 - rows // 4], axis=-1).astype(np.uint8)


@pytest.fixture(scope="session")
def pairs() -> list[dict[str, Any]]:
    """Every pair of the shipped files, as written there."""
    folder = Path(str(edits.__file__)).parent / "data"
    found: list[dict[str, Any]] = []
    for name in ("pairs.toml", "later.toml"):
        found += tomllib.loads((folder / name).read_text("utf-8"))["pair"]
    return found


@pytest.fixture(scope="session")
def run() -> Run:
    """Call an editor once: `run(editor, pixels or bytes, words, seed=…)`."""

    def call(editor: Editor, image: Pixels | bytes, words: str, *, seed: int = 1, **rest: Any) -> Edited:
        data = image if isinstance(image, bytes) else encode_png(image)
        settings = rest.pop("settings", Settings())
        request = EditRequest(data, "image/png", words, settings=settings, seed=seed, **rest)

        async def once() -> Edited:
            return await editor.edit(request)

        return asyncio.run(once())

    return call


@pytest.fixture(scope="session")
def chain(run: Run) -> Callable[..., list[Pixels]]:
    """The images after each round of a chain: `chain(editor, pixels, forward, backward, rounds=3)`."""

    def rounds_of(
        editor: Editor, pixels: Pixels, forward: str, backward: str, *, rounds: int, seed: int = 0
    ) -> list[Pixels]:
        data, seen = encode_png(pixels), []
        for step in range(2 * rounds):
            data = run(editor, data, backward if step % 2 else forward, seed=seed + step).image
            if step % 2:
                seen.append(decode(data))
        return seen

    return rounds_of
