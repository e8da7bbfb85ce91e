"""Small runs whose every pixel is known, made by the real engine; as a process of its own, one that takes its time.

`copy` returns what it is given, `darker` takes 30 levels away at every step, `balks` refuses its third step,
`refuses` its first.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import RunOutcome, plan
from convergebench.conductor.running import run as run_study
from convergebench.errors import Refused
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.report.chains import chain_key
from convergebench.studies.spec import parse_spec
from convergebench.types import Capabilities, Edited, EditRequest, Limits, SourceImage

SIDE, LOSS = 64, 30
EDITORS = {"copy": 0, "darker": LOSS, "balks": 5}
MOST_CALLS = {"balks": 2, "refuses": 0}


class DrawnEditor:
    """Takes `loss` levels from every pixel."""

    limits = Limits(at_once=1)
    capabilities = Capabilities(seed=True, dollars_per_call=0.01)

    def __init__(self, name: str, loss: int, *, wait: float = 0.0) -> None:
        self.name, self.loss, self.wait = name, loss, wait
        self.fingerprint = f"{name}@{loss}"
        self.calls: dict[str, int] = {}

    async def edit(self, request: EditRequest) -> Edited:
        await asyncio.sleep(self.wait)
        self.calls[request.case] = self.calls.get(request.case, 0) + 1
        if self.calls[request.case] > MOST_CALLS.get(self.name, 10**9):
            raise Refused("<b>this picture</b> is refused", reason="policy")
        pixels = decode(request.image).pixels.astype(int) - self.loss
        data = encode_png(np.clip(pixels, 0, 255).astype(np.uint8))
        return Edited(data, "image/png", f"{self.name}-1", dollars=0.01, reasoning="**Plan**\n\nLess <light>.")


def pictures(count: int, side: int = SIDE) -> list[SourceImage]:
    """Pictures with a bright left and a brighter right half, each of its own brightness."""
    found = []
    for number in range(count):
        pixels = np.full((side, side, 3), 160 + number, np.uint8)
        pixels[:, side // 2 :] = 240
        pixels[side // 4 : side // 2, side // 4 : side // 2] = (230, 80, 80)
        data = encode_png(pixels)
        hashed = hashlib.sha256(data).hexdigest()
        found.append(
            SourceImage(f"picture-{number}", "scene", hashed, side, side, "CC0", "drawn", partial(bytes, data))
        )
    return found


def textured(width: int, height: int) -> SourceImage:
    """A picture with texture everywhere, which metrics without a reference can judge."""
    noise = np.random.default_rng(5).normal(0, 90, (height, width, 3))
    soft = sum(np.roll(noise, shift, axis) for shift in (-1, 0, 1) for axis in (0, 1)) / 4
    data = encode_png(np.clip(150 + soft, 0, 255).astype(np.uint8))
    hashed = hashlib.sha256(data).hexdigest()
    return SourceImage("picture-0", "scene", hashed, width, height, "CC0", "drawn", partial(bytes, data))


def address(editor: str, query: str = "", *, run: str = "drawn", picture: int = 0) -> str:
    """The address of a chain in the explorer."""
    key = chain_key(editor, f"picture-{picture}/flip-horizontal/0")
    return f"/run/{run}/chain/{key}" + (f"?{query}" if query else "")


def drawn_run(root: Path, *, count: int = 2, rounds: int = 3, side: int = SIDE, **more: Any) -> RunOutcome:
    """A finished round-trip run of the three editors; `wait` seconds per call."""
    wait = more.pop("wait", 0.0)
    named: Mapping[str, int] = more.pop("editors", EDITORS)
    editors: Any = {name: DrawnEditor(name, loss, wait=wait) for name, loss in named.items()}
    spec = parse_spec(
        {
            "study": "roundtrip",
            "title": f"Drawn pictures, {rounds} round trips",
            "editors": [{"name": name, "use": "sim-perfect"} for name in editors],
            "roundtrip": {"rounds": rounds},
            "edits": {"pairs": ["flip-horizontal"]},
            "measure": {"metrics": more.pop("metrics", ["ssim", "psnr"])},
            "analysis": {"quality": ["ssim"], "semantic": "ssim"},
            "examine": {"detectors": []},
        }
    )
    options = RunOptions(report=more.pop("report", True), workers=1)
    sources = more.pop("sources", None) or pictures(count, side)
    return run_study(plan(spec, root, editors=editors, sources=sources), options)


if __name__ == "__main__":
    drawn_run(Path(sys.argv[1]), count=1, rounds=4, wait=float(sys.argv[2]), report=False, editors={"darker": LOSS})
