"""A process to be killed: walks a small study with an editor that writes every call it gets into a file.

python -m tests.engine.survivor RUN CALLS
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import numpy as np

from convergebench.conductor import run_chains
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.measuring.measure import measure
from convergebench.store.run import Run
from convergebench.types import Capabilities, Edited, EditRequest, Limits
from tests.engine.parts import IMAGES, begun, case_of, chains_of

ROUNDS, AT_ONCE = 6, 4
CASES = [case_of(image, replicate) for image in IMAGES for replicate in range(3)]


class Recorded:
    """Adds noise fixed by the seed; notes the call before answering, as a provider would bill it."""

    name, fingerprint = "counting", "recorded@1"
    capabilities = Capabilities(seed=True, dollars_per_call=1.0)
    limits = Limits(at_once=AT_ONCE)

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY)

    async def edit(self, request: EditRequest) -> Edited:
        os.write(self._file, f"{request.case} {request.index}\n".encode())
        await asyncio.sleep(0.004)
        noise = np.random.default_rng(request.seed).integers(-2, 3, (8, 8, 3))
        pixels = np.clip(decode(request.image).pixels.astype(int) + noise, 0, 255)
        return Edited(encode_png(pixels.astype(np.uint8)), "image/png", "recorded", dollars=1.0)


def main() -> None:
    root, calls = Path(sys.argv[1]), Path(sys.argv[2])
    with Run.create(root) as run:
        begun(run, IMAGES, CASES)
        run_chains(run, {"counting": Recorded(calls)}, chains_of(CASES, ROUNDS))
        measure(run, ["psnr", "rmse"], align_mode="strict", workers=1)
    (root / "finished").write_text(str(time.time()))


if __name__ == "__main__":
    main()
