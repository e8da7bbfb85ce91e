"""Small real runs for a leaderboard: stand-ins for models (not marked as simulated) edit drawn pictures."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np

import convergebench as cb
from convergebench.editors.find import make_editor
from convergebench.images.encode import encode_png
from convergebench.types import Capabilities, Edited, EditRequest, Limits

METRICS = ["ssim", "gist", "rmse", "happened", "undone"]
PAIRS = ["flip-horizontal", "red-ball"]


class StandIn:
    """An editor with a price that carries out instructions as `of` does; `nothing` and `wrecks` do not."""

    def __init__(self, name: str, of: str = "sim-jpeg", *, version: int = 1) -> None:
        self.name, self._of = name, of
        self.fingerprint = f"{name}@{version}"
        self.capabilities = Capabilities(dollars_per_call=0.04)
        self.limits = Limits(at_once=2)
        self._inner: Any = make_editor(of, of) if of.startswith("sim-") else None

    async def edit(self, request: EditRequest) -> Edited:
        await asyncio.sleep(0)
        if self._of == "nothing" or (self._of == "wrecks" and not request.case.startswith("scene-0")):
            return Edited(request.image, "image/png", f"{self.name}-1", dollars=0.04)
        if self._of == "wrecks":
            noise = np.random.default_rng(request.index).integers(0, 256, (64, 64, 3), np.uint8)
            return Edited(encode_png(noise), "image/png", f"{self.name}-1", dollars=0.04)
        made = await self._inner.edit(request)
        return Edited(made.image, made.mime, f"{self.name}-1", dollars=0.04)


def draw_pictures(folder: Path, number: int = 6, *, side: int = 64, seed: int = 0) -> Path:
    """A suite of soft patches, half of them larger."""
    for index in range(number):
        patches = np.random.default_rng(seed + index).integers(40, 216, (8, 8, 3), np.uint8)
        size = side if index % 2 else 2 * side
        path = folder / "scene" / f"scene-{index}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(patches.repeat(size // 8, 0).repeat(size // 8, 1)))
    return folder


def make_run(root: Path, pictures: Path, editors: dict[str, Any], *, rounds: int = 2, **more: Any) -> Path:
    """A finished and measured run."""
    cb.run(
        editors=editors,
        images=pictures if pictures.is_dir() else str(pictures),
        rounds=rounds,
        metrics=more.pop("metrics", METRICS),
        root=root,
        progress=False,
        workers=1,
        edits={"pairs": more.pop("pairs", PAIRS)},
        **more,
    )
    return root
