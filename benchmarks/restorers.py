"""What classical and learned restorers gain on known damage: python -m benchmarks.restorers [--learned] [--into PAGE]

Six photographs of `builtin` at 512 × 512 are damaged in ways that are known; each cell is the median over them of the
change in PSNR to the clean picture, in dB. The first row is the PSNR of the damaged pictures; the last column is what a
clean photograph keeps. Planted damage is simple (one blur everywhere, independent noise, white and dark
scratches); the columns with a degradation's name are the project's own models of it. Processor seconds are for one
picture of 1024 × 1024. With `--into`, the table replaces what stands between the page's marks.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from benchmarks.marks import put_into
from convergebench.degradations import load_degradation
from convergebench.editors.base import lacks
from convergebench.editors.classical.family import METHODS
from convergebench.editors.classical.psf import read_psf
from convergebench.editors.find import make_editor
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.images.suite import load_suite
from convergebench.types import Edited, Editor, EditRequest

PHOTOGRAPHS = ("astronaut", "man-in-a-suit", "maine-coon-cat", "fig-in-a-red-bowl", "city-roofs-at-sunset", "lounge")
LEARNED = ("waifu2x-denoise", "waifu2x-denoise-3", "waifu2x-photo", "span-x2", "realesr-anime")
CAMERA = 1.0
"""Noise in levels that every planted blur comes with, as every camera has some."""
KEPT = "left as it is"

Damage = Callable[[Pixels, int], Pixels]


def rounded(values: object) -> Pixels:
    return np.rint(np.clip(np.asarray(values, np.float32), 0, 255)).astype(np.uint8)


def noisy(pixels: Pixels, seed: int, sigma: float = 15) -> Pixels:
    """Independent noise."""
    return rounded(pixels + np.random.default_rng(seed).normal(0, sigma, pixels.shape))


def blurred(psf: str) -> Damage:
    """One point spread function everywhere, and a camera's noise."""
    kernel = read_psf(psf).kernel()[::-1, ::-1]

    def damage(pixels: Pixels, seed: int) -> Pixels:
        soft = cv2.filter2D(pixels.astype(np.float32), -1, kernel, borderType=cv2.BORDER_REFLECT)
        return noisy(rounded(soft), seed, CAMERA)

    return damage


def scratched(pixels: Pixels, seed: int) -> Pixels:
    """Eight scratches and thirty specks of dust, all white or all dark."""
    draw = np.random.default_rng(seed)
    height, width = pixels.shape[:2]
    mask = np.zeros((height, width), np.float32)
    for _ in range(8):
        rows = np.linspace(draw.uniform(0, height / 2), draw.uniform(height / 2, height), 20)
        columns = draw.uniform(0, width) + np.cumsum(draw.normal(0, 0.7, 20))
        points = np.rint(np.stack([columns, rows], axis=1) * 16).astype(np.int32)
        cv2.polylines(mask, [points], False, 1, int(draw.integers(1, 3)), cv2.LINE_AA, 4)
    for _ in range(30):
        place = (int(draw.integers(width)), int(draw.integers(height)))
        cv2.circle(mask, place, int(draw.integers(1, 3)), 1, -1, cv2.LINE_AA)
    tone = 240.0 if seed % 2 else 15.0
    return rounded(pixels + 0.85 * mask[..., None] * (tone - pixels.astype(np.float32)))


def compressed(pixels: Pixels, seed: int) -> Pixels:
    """JPEG of quality 20."""
    data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 20])[1]
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def degraded(name: str) -> Damage:
    return lambda pixels, seed: load_degradation(name)(pixels, seed=seed)


DAMAGES: dict[str, Damage] = {
    "noise σ 15": noisy,
    "disk:4": blurred("disk:4"),
    "line:15@30": blurred("line:15@30"),
    "scratches": scratched,
    "JPEG 20": compressed,
    "defocus-blur": degraded("defocus-blur"),
    "motion-blur": degraded("motion-blur"),
    "digital-zoom": degraded("digital-zoom"),
    "old-film": degraded("old-film"),
    "mixed": degraded("mixed"),
    KEPT: lambda pixels, seed: pixels,
}


def psnr(one: Pixels, other: Pixels) -> float:
    """In dB; 100 for equal pictures."""
    error = float(np.mean(np.square(one.astype(np.float64) - other)))
    return 100.0 if not error else 10 * float(np.log10(255**2 / error))


def restored(editor: Editor, pixels: Pixels) -> Pixels:
    async def once() -> Edited:
        return await editor.edit(EditRequest(encode_png(pixels), "image/png", "Restore the picture."))

    return decode(asyncio.run(once()).image, alpha="white").pixels


def seconds(editor: Editor, pixels: Pixels) -> float:
    """Processor time of a blurred and noisy megapixel, which every method works on; a first call loads."""
    large = np.asarray(cv2.resize(pixels, (1024, 1024), interpolation=cv2.INTER_CUBIC), np.uint8)
    large = noisy(blurred("disk:4")(large, 0), 0, 4)
    restored(editor, pixels)
    began = time.process_time()
    restored(editor, large)
    return time.process_time() - began


def table(names: list[str], photographs: list[Pixels]) -> str:
    """Markdown."""
    spoilt = {what: [damage(one, seed) for seed, one in enumerate(photographs)] for what, damage in DAMAGES.items()}
    before = {what: [psnr(*pair) for pair in zip(photographs, those, strict=True)] for what, those in spoilt.items()}
    base = [f"{np.median(before[what]):.1f}" if what != KEPT else "" for what in DAMAGES]
    lines = [
        f"| method | {' | '.join(DAMAGES)} | seconds |",
        f"|---|{'---:|' * (len(DAMAGES) + 1)}",
        f"| damaged, PSNR | {' | '.join(base)} | |",
    ]
    for name in names:
        editor, cells = make_editor(name), []
        for what, those in spoilt.items():
            with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
                answers = list(pool.map(partial(restored, editor), those))
            after = [psnr(*pair) for pair in zip(photographs, answers, strict=True)]
            if what == KEPT:
                cells.append(f"{np.median(after):.1f} (least {min(after):.1f})")
            else:
                cells.append(f"{np.median(np.subtract(after, before[what])):+.2f}")
        taken = seconds(editor, photographs[0])
        lines.append(f"| `{name}` | {' | '.join(cells)} | {taken:.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Read the arguments, print or put."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--learned", action="store_true", help="the small learned restorers too; takes minutes more")
    parser.add_argument("--editor", action="append", default=[], help="these alone")
    parser.add_argument("--photographs", type=int, default=len(PHOTOGRAPHS), help="as many of the six")
    parser.add_argument("--into", type=Path, help="a page to put the table into")
    given = parser.parse_args()
    names = given.editor or [*METHODS, *(LEARNED if given.learned else ())]
    missing = {name: lack for name in names if (lack := lacks(make_editor(name)))}
    if missing:
        raise SystemExit("; ".join(line for lines in missing.values() for line in lines))
    known = {image.id: image for image in load_suite("builtin-512").images}
    chosen = PHOTOGRAPHS[: given.photographs]
    text = table(names, [decode(known[one].read(), alpha="white").pixels for one in chosen])
    text += f"\n\nMedians over {len(chosen)} photographs of 512 × 512 pixels ({', '.join(chosen)})."
    if given.into is None:
        sys.stdout.write(text + "\n")
    else:
        put_into(given.into, "restorers", text)


if __name__ == "__main__":
    main()
