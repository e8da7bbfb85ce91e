"""Calls as the engine makes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np

from convergebench.editors.diffusers.editor import DiffusersEditor
from convergebench.images.encode import encode_png
from convergebench.types import Edited, EditRequest

Make = Callable[..., DiffusersEditor]


def picture(seed: int = 0, width: int = 96, height: int = 64) -> bytes:
    """Static: no two are alike."""
    return encode_png(np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8))


def request(seed: int = 0, words: str = "add a hat", **size: int) -> EditRequest:
    """A call whose image and seed have the same number."""
    return EditRequest(picture(seed, **size), "image/png", words, seed=seed)


def edit(editor: DiffusersEditor, *requests: EditRequest) -> list[Edited]:
    """All at once, as the engine would have them in flight."""

    async def batch_size() -> list[Edited]:
        return list(await asyncio.gather(*(editor.edit(request) for request in requests)))

    return asyncio.run(batch_size())
