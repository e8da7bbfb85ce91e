"""The picture of docs/results/decay.md: `python -m training.decay.picture docs/pictures/decay.jpg`.

Two chains on photographs of the suite `builtin` by editors that the network never met, with its values beside those of
two public metrics, the map of the last step, and a false alarm.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import matplotlib
import numpy as np
from PIL import Image

from convergebench.images.frame import Frame, Pixels
from convergebench.images.suite import load_suite
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.metrics.no_reference.decay_reading import decay_map, read_decay
from training.decay.learned import edited

SHOWN = (1, 5, 10, 20)
ROWS = (("maine-coon-cat", "taesd3"), ("coffee-cup", "realesr-anime"), ("palm-beach", "waifu2x-denoise"))


def square(name: str, side: int = 320) -> Pixels:
    """The middle of a photograph of the suite."""
    data = next(one for one in load_suite("builtin").images if one.id == name).read()
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    scale = 1.5 * side / min(picture.size)
    picture = picture.resize((round(picture.width * scale), round(picture.height * scale)), Image.Resampling.LANCZOS)
    left, top = (picture.width - side) // 2, (picture.height - side) // 2
    return np.ascontiguousarray(np.asarray(picture.crop((left, top, left + side, top + side))))


def said(pixels: Pixels) -> str:
    """Values of three metrics; lower is better in all."""
    others = [load_metric(name).measure([Item(Frame(pixels))])[0].value for name in ("brisque", "piqe")]
    return f"decay {read_decay(Frame(pixels)).value:.0f} · BRISQUE {others[0]:.0f} · PIQE {others[1]:.0f}"


def walked(name: str, editor: str) -> dict[int, Pixels]:
    """The steps that are shown."""
    pixels, kept = square(name), {}
    for step in range(1, max(SHOWN) + 1):
        done = edited(editor, pixels)
        size = (pixels.shape[1], pixels.shape[0])
        same = done.shape == pixels.shape
        pixels = done if same else np.asarray(cv2.resize(done, size, interpolation=cv2.INTER_AREA), np.uint8)
        if step in SHOWN:
            kept[step] = pixels
    return kept


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    chosen = parser.parse_args(given)
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(ROWS), len(SHOWN) + 1, figsize=(15, 3.35 * len(ROWS)), layout="constrained")
    for row, (name, editor) in zip(axes, ROWS, strict=True):
        kept = walked(name, editor)
        for axis, step in zip(row, SHOWN, strict=False):
            _show(axis, kept[step], f"{editor}, step {step}\n{said(kept[step])}")
        values = decay_map(Frame(kept[max(SHOWN)]), 64)
        height, width = kept[max(SHOWN)].shape[:2]
        row[-1].imshow(kept[max(SHOWN)])
        drawn = row[-1].imshow(values, cmap="inferno", vmin=0, vmax=150, alpha=0.6, extent=(0, width, height, 0))
        row[-1].set_title(f"where it is worn\n{read_decay(Frame(kept[max(SHOWN)])).words}", fontsize=9)
        row[-1].axis("off")
    figure.colorbar(drawn, ax=axes[:, -1], shrink=0.4, label="decay of a tile")
    figure.savefig(chosen.out, dpi=80, pil_kwargs={"quality": 82})


def _show(axis: Any, pixels: Pixels, title: str) -> None:
    axis.imshow(pixels)
    axis.set_title(title, fontsize=9)
    axis.axis("off")


if __name__ == "__main__":
    main()
