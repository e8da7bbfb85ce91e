"""What people do to a photograph once, which is not wear: the pictures on which a false alarm is counted.

    python -m training.decay.treatments tune build/decay/untouched-tune.npz
    python -m training.decay.treatments test build/decay/untouched-test.npz

Also a half of each picture, and drawings: pictures that no camera took.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from convergebench.images.frame import Pixels
from convergebench.metrics.no_reference._decay_network import NUMBERS
from training.decay.damage import Random, sharpened, to_pixels
from training.decay.photographs import listed, part_of
from training.decay.scores import Row, row_of, save

LONGEST = 768
"""Long side of the pictures that are treated."""


def _saved(quality: int) -> Callable[[Pixels, Random], Pixels]:
    def treat(pixels: Pixels, random: Random) -> Pixels:
        packed = io.BytesIO()
        Image.fromarray(pixels).save(packed, "JPEG", quality=quality)
        return np.asarray(Image.open(packed).convert("RGB"), np.uint8)

    return treat


def _sized(factor: float, kernel: int) -> Callable[[Pixels, Random], Pixels]:
    def treat(pixels: Pixels, random: Random) -> Pixels:
        size = (round(pixels.shape[1] * factor), round(pixels.shape[0] * factor))
        return np.asarray(cv2.resize(pixels, size, interpolation=kernel), np.uint8)

    return treat


def _grain(pixels: Pixels, random: Random) -> Pixels:
    grain = cv2.GaussianBlur(random.normal(size=(*pixels.shape[:2], 1)).astype(np.float32), (0, 0), 0.7)
    return to_pixels(pixels + 9 * (grain / grain.std())[..., None])


def _toned(pixels: Pixels, random: Random) -> Pixels:
    values = 255 * np.power(np.clip(128 + 1.3 * (pixels.astype(np.float32) - 128), 0, 255) / 255, 0.85)
    return to_pixels(values * np.array([1.08, 1.0, 0.9]))


def _grey(pixels: Pixels, random: Random) -> Pixels:
    return np.repeat(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2)


def drawing(number: int, side: int = 512) -> Pixels:
    """Flat shapes with outlines and some text on a plain ground, drawn four times as large and reduced."""
    random = np.random.default_rng([9, number])
    large = np.full((4 * side, 4 * side, 3), random.integers(190, 256, 3), np.uint8)
    for _ in range(int(random.integers(8, 26))):
        colour, place = tuple(map(int, random.integers(0, 256, 3))), tuple(map(int, random.integers(0, 4 * side, 2)))
        size = int(random.integers(60, 700))
        if random.random() < 0.5:
            cv2.circle(large, place, size // 2, colour, -1)
            cv2.circle(large, place, size // 2, (20, 20, 20), 10)
        else:
            other = (place[0] + size, place[1] + int(size * random.uniform(0.3, 1.5)))
            cv2.rectangle(large, place, other, colour, -1)
            cv2.rectangle(large, place, other, (20, 20, 20), 10)
    cv2.putText(large, "sample", (200, 1800), cv2.FONT_HERSHEY_SIMPLEX, 9, (10, 10, 10), 20)
    return np.asarray(cv2.resize(large, (side, side), interpolation=cv2.INTER_AREA), np.uint8)


TREATMENTS: dict[str, Callable[[Pixels, Random], Pixels]] = {
    "as it is": lambda pixels, random: pixels,
    "JPEG 95": _saved(95),
    "JPEG 85": _saved(85),
    "JPEG 75": _saved(75),
    "JPEG 60": _saved(60),
    "half size": _sized(0.5, cv2.INTER_AREA),
    "enlarged 1.5 times": _sized(1.5, cv2.INTER_CUBIC),
    "enlarged twice": _sized(2.0, cv2.INTER_CUBIC),
    "sharpened": lambda pixels, random: sharpened(pixels, 0.6, 1.0),
    "sharpened strongly": lambda pixels, random: sharpened(pixels, 1.2, 1.5),
    "film grain": _grain,
    "grey": _grey,
    "toned": _toned,
}


def rows_of(folder: Path, name: str, kind: str, network: Path) -> list[Row]:
    """The rows of one photograph, treated in every way."""
    picture = Image.open(folder / f"{name}.png")
    picture.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
    pixels = np.ascontiguousarray(np.asarray(picture))
    random = np.random.default_rng(int(name[:8], 16))
    return [
        {"photograph": name, "kind": kind, "treatment": treatment}
        | row_of(np.ascontiguousarray(treat(pixels, random)), {"network": network})
        for treatment, treat in TREATMENTS.items()
    ]


def drawing_row(number: int, network: Path) -> Row:
    """The row of one drawing."""
    found = row_of(drawing(number), {"network": network})
    return {"photograph": f"drawing-{number}", "kind": "drawing", "treatment": "drawing", **found}


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["tune", "test"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--network", type=Path, default=NUMBERS)
    parser.add_argument("--photographs", type=Path, default=Path("build/decay/photographs"))
    parser.add_argument("--drawings", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args(given)
    names = [one for one in listed(chosen.photographs / "photographs.csv") if part_of(one) == chosen.part]
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(rows_of, chosen.photographs, one.name, one.kind, chosen.network) for one in names]
        start = 0 if chosen.part == "tune" else 1000
        drawn = [pool.submit(drawing_row, start + number, chosen.network) for number in range(chosen.drawings)]
        rows = [row for future in futures for row in future.result()] + [future.result() for future in drawn]
    save(chosen.out, rows)
    print(f"{chosen.out}: {len(rows)} pictures of {len(names)} photographs")  # noqa: T201


if __name__ == "__main__":
    main()
