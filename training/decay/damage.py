"""Small damages that an editor could do at every step, each with random strength.

A maker draws what stays the same over a chain (the kind, its strength, a colour drift, a lattice) and gives a step,
which takes a picture and a generator for what differs from step to step.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from convergebench.editors.simulated.wear import KINDS, WearContext
from convergebench.images.frame import Pixels

Random = np.random.Generator
Step = Callable[[Pixels, Random], Pixels]
Maker = Callable[[Random], Step]
Values = NDArray[np.float32]

_KERNELS = (cv2.INTER_LINEAR, cv2.INTER_CUBIC, cv2.INTER_LANCZOS4, cv2.INTER_AREA)


def to_pixels(values: NDArray[np.floating]) -> Pixels:
    """Rounded and held within 8 bits."""
    return np.ascontiguousarray(np.clip(np.rint(values), 0, 255), np.uint8)


def between(random: Random, low: float, high: float) -> float:
    """A number between the two, evenly on a logarithmic scale."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def one_or_two(random: Random, makers: Sequence[Maker]) -> Step:
    """One operation, often with a second one after it, with a share of what came in."""
    first = makers[int(random.integers(len(makers)))](random)
    second = makers[int(random.integers(len(makers)))](random) if random.random() < 0.5 else None
    keep = float(random.choice([0.0, random.uniform(0.2, 0.6)]))

    def step(pixels: Pixels, now: Random) -> Pixels:
        done = first(pixels, now)
        if second:
            done = second(done, now)
        return to_pixels(keep * pixels.astype(np.float32) + (1 - keep) * done.astype(np.float32))

    return step


def _moved(pixels: Pixels, across: int, down: int) -> Pixels:
    """Shifted by whole pixels, edges repeated, so that a codec's grid falls elsewhere."""
    padded = np.pad(pixels, ((16, 16), (16, 16), (0, 0)), mode="edge")
    height, width = pixels.shape[:2]
    return np.ascontiguousarray(padded[16 + down : 16 + down + height, 16 + across : 16 + across + width])


def _saved(pixels: Pixels, form: str, **options: object) -> Pixels:
    packed = io.BytesIO()
    Image.fromarray(pixels).save(packed, form, **options)
    return np.asarray(Image.open(packed).convert("RGB"), np.uint8)


def codec(random: Random) -> Step:
    """Saved and loaded; in most chains the grid falls elsewhere each time, else damage would stop after one step."""
    form = str(random.choice(["JPEG", "JPEG", "JPEG", "WEBP", "JPEG2000"]))
    options: dict[str, object]
    if form == "JPEG":
        options = {"quality": int(random.integers(25, 93)), "subsampling": int(random.integers(0, 3))}
    elif form == "WEBP":
        options = {"quality": int(random.integers(20, 92)), "method": 2}
    else:
        options = {"quality_mode": "dB", "quality_layers": [float(random.uniform(30, 40))]}
    wander = bool(random.random() < 0.8)

    def step(pixels: Pixels, now: Random) -> Pixels:
        across, down = (
            (now.integers(-7, 8, 2) if wander else (0, 0)) if form != "JPEG2000" else now.integers(-15, 16, 2)
        )
        moved = _moved(pixels, int(across), int(down))
        return _moved(_saved(moved, form, **options), -int(across), -int(down))

    return step


def resampled(random: Random) -> Step:
    """Scaled, shifted or turned there and back, with or without sharpening afterwards."""
    kind = str(random.choice(["scale", "shift", "turn"]))
    there, back = (int(kernel) for kernel in random.choice(_KERNELS, 2))
    factor, sharpen = random.uniform(0.45, 0.97), random.choice([0.0, 0.0, random.uniform(0.1, 0.9)])
    most = random.uniform(0.2, 2.0)

    def step(pixels: Pixels, now: Random) -> Pixels:
        height, width = pixels.shape[:2]
        if kind == "scale":
            small = (max(8, round(width * factor)), max(8, round(height * factor)))
            done = cv2.resize(cv2.resize(pixels, small, interpolation=there), (width, height), interpolation=back)
        else:
            angle = now.uniform(-most, most) if kind == "turn" else 0.0
            matrix = np.array(cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0), np.float64)
            matrix[:, 2] += now.uniform(-0.5, 0.5, 2)
            kernel = there if there != cv2.INTER_AREA else cv2.INTER_LINEAR
            turned = cv2.warpAffine(pixels, matrix, (width, height), flags=kernel, borderMode=cv2.BORDER_REFLECT)
            undo = cv2.invertAffineTransform(matrix)
            done = cv2.warpAffine(turned, undo, (width, height), flags=kernel, borderMode=cv2.BORDER_REFLECT)
        return sharpened(np.asarray(done), float(sharpen), 1.0) if sharpen else np.asarray(done, np.uint8)

    return step


def sharpened(pixels: Pixels, amount: float, radius: float) -> Pixels:
    """Unsharp mask."""
    values = pixels.astype(np.float32)
    return to_pixels(values + amount * (values - cv2.GaussianBlur(values, (0, 0), radius)))


def worn(random: Random) -> Step:
    """One or two of the simulated editors' wears, at random strength."""
    options: dict[str, dict[str, object]] = {
        "noise": {"sigma": between(random, 0.8, 8) / 255},
        "scatter": {"share": between(random, 0.0003, 0.004), "size": float(random.uniform(1, 4))},
        "blur": {"sigma": between(random, 0.3, 0.9)},
        "simplify": {"strength": between(random, 6, 50)},
        "wrinkle": {"pixels_moved": between(random, 0.15, 1.2), "wavelength": float(random.uniform(5, 20))},
        "tint": dict(zip(("red", "green", "blue"), map(float, random.uniform(-2.5, 2.5, 3)), strict=True)),
        "contract": {"q": float(random.uniform(0.75, 0.97)), "target": "#808080"},
        "resize": {"factor": float(random.uniform(0.5, 0.95))},
        "jpeg": {"quality": int(random.integers(30, 90))},
    }
    weights = np.array([3, 1, 1, 2, 2, 1, 1, 1, 0.5])
    names = random.choice(list(options), size=int(random.integers(1, 3)), replace=False, p=weights / weights.sum())
    wears = [KINDS[name].make(**options[name]) for name in names]
    count = 0

    def step(pixels: Pixels, now: Random) -> Pixels:
        nonlocal count
        for wear in wears:
            pixels = wear(pixels, WearContext(int(now.integers(1 << 40)), count))
        count += 1
        return np.ascontiguousarray(pixels, np.uint8)

    return step
