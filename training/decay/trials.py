"""Chains of editors that the network was not taught on, made for tuning and for the test.

    python -m training.decay.trials build/decay/tune --part tune --count 12
    python -m training.decay.trials build/decay/test --part test --count 24

Photographs of one part only; every family starts from the same kind of square. These editors are written with OpenCV or
are the package's own, so not even their code is shared with what the network was taught on. One file per chain.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from convergebench.images.frame import Pixels
from training.decay import damage, enhance, frozen, last, latent
from training.decay.damage import Maker, Random, Step
from training.decay.learned import AUTOENCODERS, RESTORERS, edited, mixed
from training.decay.photographs import listed, part_of

STEPS = (0, 1, 2, 3, 5, 10, 20)
SIDE = 320
"""Side of the squares."""
DRAWN: dict[str, Maker] = {
    "codec": damage.codec,
    "resampled": damage.resampled,
    "worn": damage.worn,
    "mimic": latent.mimic,
    "single": latent.single,
    "enhanced": enhance.enhanced,
    "frozen": frozen.frozen,
    "last": last.last,
}
UNTOUCHED = ("frozen", "last")
"""Made and scored last: see protocol.md."""
FAMILIES = (*(name for name in DRAWN if name not in UNTOUCHED), *AUTOENCODERS, *RESTORERS, "mixed")
"""What is made unless asked otherwise."""


class Chain(NamedTuple):
    """The kept pictures of one chain."""

    family: str
    photograph: str
    number: int
    pictures: NDArray[np.uint8]
    """(steps, height, width, 3)."""


def square(folder: Path, name: str, random: Random, side: int = SIDE) -> Pixels:
    """A square of a photograph, at its own scale or reduced."""
    with Image.open(folder / f"{name}.png") as picture:
        scale = max(side / min(picture.size), float(random.uniform(0.45, 1.0)))
        size = (max(side, round(picture.width * scale)), max(side, round(picture.height * scale)))
        reduced = picture.resize(size, Image.Resampling.LANCZOS)
    left, top = int(random.integers(0, size[0] - side + 1)), int(random.integers(0, size[1] - side + 1))
    return np.ascontiguousarray(np.asarray(reduced)[top : top + side, left : left + side])


def _softened(random: Random, step: Step) -> Callable[[Pixels, Random, int], Pixels]:
    """A third of the editors give a soft first picture, as those do that enlarge what they are given."""
    factor = float(random.uniform(0.45, 0.8)) if random.random() < 1 / 3 else 1.0

    def taken(pixels: Pixels, now: Random, number: int) -> Pixels:
        if number == 1 and factor < 1:
            height, width = pixels.shape[:2]
            small = cv2.resize(pixels, (round(width * factor), round(height * factor)), interpolation=cv2.INTER_AREA)
            pixels = np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)
        return step(pixels, now)

    return taken


def walked(family: str, number: int, name: str, photographs: Path, side: int) -> Chain:
    """One chain, fixed by family and number."""
    cv2.setNumThreads(1)
    random = np.random.default_rng([number, *family.encode()])
    pixels = square(photographs, name, random, side)
    if family in DRAWN:
        take = _softened(random, DRAWN[family](random))
    else:
        step = mixed(random)[1] if family == "mixed" else partial(_by_editor, family)
        take = _softened(random, step) if family == "mixed" else lambda pixels, now, number: step(pixels, now)
    kept = [pixels]
    for count in range(1, max(STEPS) + 1):
        pixels = np.ascontiguousarray(take(pixels, random, count))
        if count in STEPS:
            kept.append(pixels)
    return Chain(family, name, number, np.stack(kept))


def _by_editor(name: str, pixels: Pixels, now: Random) -> Pixels:
    done = edited(name, pixels)
    if done.shape != pixels.shape:  # restorers that enlarge are asked for the size they were given
        size = (pixels.shape[1], pixels.shape[0])
        return np.asarray(cv2.resize(done, size, interpolation=cv2.INTER_AREA), np.uint8)
    return done


def make(out: Path, family: str, number: int, name: str, photographs: Path, side: int) -> str:
    """Make one chain and keep it; one that is there is not made again."""
    path = out / f"{family}-{number:03d}-{name}.npz"
    if not path.exists():
        import torch

        torch.set_num_threads(1)
        chain = walked(family, number, name, photographs, side)
        whole = path.with_suffix(".part")
        with whole.open("wb") as file:
            np.savez(file, pictures=chain.pictures)
        whole.rename(path)
    return path.name


def chains_in(folder: Path) -> Iterator[Chain]:
    """The chains of a folder, in order of their names."""
    for path in sorted(folder.glob("*.npz")):
        family, number, name = path.stem.rsplit("-", 2)
        yield Chain(family, name, int(number), np.load(path)["pictures"])


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--part", choices=["train", "tune", "test"], required=True)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--count", type=int, default=12, help="chains per family")
    parser.add_argument("--side", type=int, default=SIDE)
    parser.add_argument("--photographs", type=Path, default=Path("build/decay/photographs"))
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args(given)
    chosen.out.mkdir(parents=True, exist_ok=True)
    names = [one.name for one in listed(chosen.photographs / "photographs.csv") if part_of(one) == chosen.part]
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn")) as pool:
        futures = []
        for family in chosen.families.split(","):
            order = np.random.default_rng([7, *family.encode()]).permutation(len(names))
            futures += [
                pool.submit(
                    make, chosen.out, family, place, names[order[place % len(names)]], chosen.photographs, chosen.side
                )
                for place in range(chosen.count)
            ]
        for future in futures:
            future.result()
    print(f"{chosen.out}: {len(futures)} chains")  # noqa: T201


if __name__ == "__main__":
    main()
