"""What learned networks that only copy lose along a chain, and what a GPU gains the autoencoders among them.

python -m benchmarks.floors [--steps 20] [--editor NAME …]

One photograph of 512 × 512 (scikit-image's astronaut), PSNR and SSIM against it. Where there is a GPU, the autoencoders
walk their chain there and three steps on one core beside it, for the ratio and for how far the two are apart.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import Any

import numpy as np

from convergebench.editors.base import close, lacks
from convergebench.editors.find import make_editor
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Frame
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.types import EditRequest

AUTOENCODERS = ("taesd", "taesdxl", "taesd3", "taef1", "taef2")
RESTORERS = ("waifu2x-denoise", "span-x2", "realesr-anime", "realesrgan-x4")
POINTS = (1, 5, 20)
BESIDE = 3
"""Steps on the processor beside the GPU's."""


def walk(name: str, source: bytes, steps: int, **options: str) -> tuple[list[bytes], float]:
    """The images, and seconds per step without the first, which loads."""

    async def chain() -> tuple[list[bytes], float]:
        editor, images, began = make_editor(name, **options), [source], 0.0
        for step in range(steps):
            images.append((await editor.edit(EditRequest(images[-1], "image/png", ""))).image)
            began = began if step else time.perf_counter()
        seconds = (time.perf_counter() - began) / (steps - 1)
        await close(editor)
        return images[1:], seconds

    return asyncio.run(chain())


def gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--editor", action="append", choices=[*AUTOENCODERS, *RESTORERS])
    given = parser.parse_args()
    from skimage import data

    astronaut: Any = data.astronaut
    picture = np.asarray(astronaut())
    source = encode_png(picture)
    before = Frame(picture, "source")
    for name in given.editor or (*AUTOENCODERS, *RESTORERS):
        missing = lacks(make_editor(name))
        if missing:
            print(f"{name:16} left out: {'; '.join(missing)}")
            continue
        fast = gpu() and name in AUTOENCODERS
        images, seconds = walk(name, source, given.steps, **({"device": "cuda"} if fast else {}))
        told = []
        for point in (one for one in POINTS if one <= given.steps):
            after = Frame(decode(images[point - 1]).pixels, str(point))
            item = Item(after, before)
            values = [load_metric(metric).measure([item])[0].value or 0.0 for metric in ("psnr", "ssim")]
            told.append(f"{values[0]:.2f} / {values[1]:.3f}")
        more = beside(name, source, images, seconds) if fast else ""
        print(f"{name:16} {' | '.join(told)} | {seconds:.3f} s a step{more}")


def beside(name: str, source: bytes, images: list[bytes], seconds: float) -> str:
    slow, long = walk(name, source, BESIDE, device="cpu")
    pairs = zip(images[:2], slow[:2], strict=True)
    apart = [int(np.abs(decode(one).pixels.astype(int) - decode(other).pixels).max()) for one, other in pairs]
    return f" on the GPU, {long / seconds:.0f} times one core's speed; grey levels apart after 1 and 2 steps: {apart}"


if __name__ == "__main__":
    main()
