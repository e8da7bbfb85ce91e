"""What the stand-ins for CLIP make of known changes: python -m benchmarks.stand_ins [--metric augnet]

Seven photographs that come with scikit-image, cut to at most 512 × 512. Printed: smallest and largest value per change,
and the values between different photographs. These are the figures in the descriptions of the metrics.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from itertools import combinations
from statistics import median

import cv2
import numpy as np

from convergebench.images.frame import Frame, Pixels
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from tests.metrics.pictures import jpeg, noisy, photograph, tinted, with_disc

NAMES = (
    "astronaut", "coffee", "chelsea", "rocket", "immunohistochemistry", "hubble_deep_field", "retina",
)  # fmt: skip


def blurred(pixels: Pixels) -> Pixels:
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), 2), np.uint8)


def swapped(pixels: Pixels) -> Pixels:
    middle = pixels.shape[1] // 2
    return np.ascontiguousarray(np.concatenate([pixels[:, middle:], pixels[:, :middle]], axis=1))


def painted_over(pixels: Pixels) -> Pixels:
    """The middle third of both sides in the picture's mean colour."""
    height, width = pixels.shape[:2]
    out = pixels.copy()
    out[height // 3 : -height // 3, width // 3 : -width // 3] = pixels.mean(axis=(0, 1)).astype(np.uint8)
    return out


def grey(pixels: Pixels) -> Pixels:
    return np.asarray(cv2.cvtColor(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB), np.uint8)


CHANGES: Mapping[str, Callable[[Pixels], Pixels]] = {
    "JPEG of quality 15": lambda pixels: jpeg(pixels, 15),
    "blur of σ 2": blurred,
    "noise of σ 25": lambda pixels: noisy(pixels, 25),
    "mirror image": lambda pixels: np.ascontiguousarray(pixels[:, ::-1]),
    "halves swapped": swapped,
    "a ball put in": with_disc,
    "tint of 20 levels": lambda pixels: tinted(pixels, 20, 0, -20),
    "middle painted over": painted_over,
    "half the contrast": lambda pixels: (pixels // 2 + 64).astype(np.uint8),
    "half the brightness": lambda pixels: (pixels // 2).astype(np.uint8),
    "grey": grey,
}


def main() -> None:
    """Print one line per change."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stand_ins", description=__doc__)
    parser.add_argument("--metric", default="augnet", help="which metric")
    name = parser.parse_args().metric
    metric = load_metric(name)
    frames = [Frame(photograph(one, 512, 512), one) for one in NAMES]

    def value(subject: Frame, reference: Frame) -> float:
        found = metric.measure([Item(subject, reference)])[0].value
        assert found is not None
        return found

    for change, make in CHANGES.items():
        values = [value(Frame(make(frame.pixels)), frame) for frame in frames]
        print(f"{change:24}{min(values):7.2f} to {max(values):5.2f}")
    others = [value(one, other) for one, other in combinations(frames, 2)]
    print(
        f"{'different photographs':24}{min(others):7.2f} to {max(others):5.2f}, half of them under {median(others):.2f}"
    )


if __name__ == "__main__":
    main()
