"""Small pictures and editors for the Python API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

import convergebench as cb


def picture(seed: int = 0, size: tuple[int, int] = (96, 72)) -> Image.Image:
    """A small picture with edges and noise."""
    pixels = np.random.default_rng(seed).integers(0, 256, (9, 12, 3), np.uint8)
    return Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC)


PICTURES = {f"p{number}": picture(number) for number in range(3)}


def blur(image: Image.Image, instruction: str) -> Image.Image:
    """A plain function as an editor."""
    return image.filter(ImageFilter.GaussianBlur(1))


async def darker(image: Image.Image, instruction: str) -> Image.Image:
    """An async function as an editor."""
    return image.point(lambda value: value * 0.9)


QUICK: dict[str, Any] = {
    "images": PICTURES,
    "rounds": 2,
    "metrics": ["ssim", "rmse"],
    "edits": {"pairs": ["flip-horizontal"]},
    "analysis": {"draws": 100, "permutations": 99, "chain_draws": 50},
    "workers": 1,
    "progress": False,
}
"""What makes a run of the API quick."""


def quick_run(root: Path, *editors: Any, **changes: Any) -> cb.LoadedRun:
    """A run of three small pictures and one edit."""
    return cb.run("roundtrip", editors=list(editors) or [blur, darker], root=root, **{**QUICK, **changes})
