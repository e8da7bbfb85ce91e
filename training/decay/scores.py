"""What every way of judging says of the pictures of chains: `python -m training.decay.scores FOLDER OUT.npz`.

A row per picture: the network of `decay`, with what its last layer but one says, the 97 classical features, statistics
of deep features (AlexNet at two sizes, VGG16 at half size) and, where asked for, the public metrics.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Frame, Pixels
from convergebench.metrics.no_reference._decay_network import (
    NUMBERS,
    DecayNetwork,
    from_arrays,
)
from convergebench.metrics.no_reference._decay_tiles import wear_of
from training.decay.counting import EARLY, LATER
from training.decay.features import picture_features
from training.decay.trials import STEPS

PUBLIC = ("brisque", "niqe", "piqe", "ilniqe", "cnniqa-live")
COMPARED = (EARLY, *LATER)
"""Steps that the public metrics score: those that are compared."""
Row = dict[str, Any]


@cache
def network_of(path: Path) -> DecayNetwork:
    """A network by its file."""
    return from_arrays(dict(np.load(path)))


def deep_statistics(pixels: Pixels) -> NDArray[np.float32]:
    """Mean and spread of every channel: AlexNet at the picture's size and at half, VGG16 at half."""
    import torch

    from convergebench.metrics.full_reference._networks import inputs, network
    from convergebench.metrics.place import Place

    torch.set_num_threads(1)
    half = cv2.resize(pixels, (pixels.shape[1] // 2, pixels.shape[0] // 2), interpolation=cv2.INTER_AREA)
    place, found = Place("cpu", "float32"), []
    with torch.inference_mode():
        for name, given in (("lpips", pixels), ("lpips", half), ("lpips-vgg", half)):
            made = network(name, place)
            value = inputs([Frame(np.ascontiguousarray(given))], place, standardised=made.standardised, fold=made.fold)
            for stage in made.stages[: 3 if name == "lpips-vgg" else 5]:
                value = stage(value)
                found += [value.mean((0, 2, 3)), value.std((0, 2, 3))]
        return np.log1p(np.asarray(torch.cat(found).numpy(), np.float32))


def public(pixels: Pixels) -> list[float]:
    """The public metrics, all turned so that higher is worse; NaN where there is no value."""
    from convergebench.metrics import load_metric
    from convergebench.metrics.base import Item

    found = []
    for name in PUBLIC:
        metric = load_metric(name)
        value = metric.measure([Item(Frame(pixels))])[0].value
        found.append(float("nan") if value is None else value if metric.facts.better == "lower" else -value)
    return found


def row_of(
    pixels: Pixels, networks: Mapping[str, Path], *, ways: bool = False, others: bool = False, asked: bool = True
) -> Row:
    """Everything that is said of one picture; public metrics only where they are asked."""
    cv2.setNumThreads(1)
    found: Row = {}
    for name, path in networks.items():
        wear = wear_of(Frame(pixels), network_of(path))
        found |= {name: wear.raw, f"{name}-hidden": wear.hidden, "flat": wear.flat}
    if ways:
        found["features"] = np.array(list(picture_features(pixels).values()), np.float32)
        found["deep"] = deep_statistics(pixels)
    if others:
        found["public"] = np.array(public(pixels) if asked else [np.nan] * len(PUBLIC))
    return found


def rows_of(path: Path, networks: Mapping[str, Path], ways: bool, others: bool) -> list[Row]:
    """The rows of one chain."""
    family, _, photograph = path.stem.rsplit("-", 2)
    pictures = np.load(path)["pictures"]
    return [
        {"family": family, "chain": path.stem, "photograph": photograph, "step": step}
        | row_of(np.ascontiguousarray(pixels), networks, ways=ways, others=others, asked=step in COMPARED)
        for step, pixels in zip(STEPS, pictures, strict=True)
    ]


def save(out: Path, rows: Sequence[Row]) -> None:
    """Rows as columns in one file."""
    np.savez_compressed(out, allow_pickle=False, **{key: np.array([row[key] for row in rows]) for key in rows[0]})


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--network", type=Path, default=NUMBERS)
    parser.add_argument("--without", type=Path, default=None, help="a second network, taught without a family")
    parser.add_argument("--ways", action="store_true", help="classical and deep features as well")
    parser.add_argument("--public", action="store_true", help="the public metrics as well")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args(given)
    networks = {"network": chosen.network} | ({"without": chosen.without} if chosen.without else {})
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn")) as pool:
        futures = [
            pool.submit(rows_of, path, networks, chosen.ways, chosen.public)
            for path in sorted(chosen.folder.glob("*.npz"))
        ]
        rows = [row for future in futures for row in future.result()]
    save(chosen.out, rows)
    print(f"{chosen.out}: {len(rows)} pictures of {len(futures)} chains")  # noqa: T201


if __name__ == "__main__":
    main()
