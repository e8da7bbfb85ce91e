"""Make chains of worn pictures and write down their features: `python -m training.decay.chains OUT.npz`.

    python -m training.decay.chains procedural.npz --random 1100 --enhanced 150
    python -m training.decay.chains learned.npz --editors taesd,taesdxl,taesd3,taef1,taef2 --mixed 220

The pictures themselves are not kept: a chain is fixed by its seed, and one picture is a row of about 120 numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import monotonic

import cv2
import numpy as np

from convergebench.images.frame import Frame, Pixels
from convergebench.metrics.no_reference._decay_features import picture_features
from training.decay import damage, enhance, latent, sources
from training.decay.damage import Maker, Step
from training.decay.learned import AUTOENCODERS, RESTORERS, edited, little, mixed
from training.decay.tables import BASELINES, MIXED, NETWORK, Row, save

STEPS = (0, 1, 2, 3, 5, 10, 20)
"""The steps of a chain that are looked at; 0 is the untouched picture."""
ENHANCED = "enhanced"
FAMILIES: dict[str, Maker] = {
    "codec": damage.codec,
    "resampled": damage.resampled,
    "worn": damage.worn,
    "mimic": latent.mimic,
    "single": latent.single,
    ENHANCED: enhance.enhanced,
}
SHARES = {"codec": 0.12, "resampled": 0.13, "worn": 0.2, "mimic": 0.35, "single": 0.2}


def family_of(editor: str) -> str:
    """Which family a named editor belongs to."""
    return "autoencoder" if editor in (*AUTOENCODERS, MIXED) else "restorer" if editor in RESTORERS else editor


def random_chain(family: str, seed: int, judged: bool, networks: Path | None = None) -> list[Row]:
    """A chain of a family, wholly fixed by the seed."""
    cv2.setNumThreads(1)
    kinds = [*(name for name in FAMILIES if name != ENHANCED), MIXED, NETWORK, ENHANCED]
    random = np.random.default_rng([seed, int(judged), kinds.index(family)])
    image = sources.drawn_name(random, judged=judged)
    pixels = sources.variant(image, random)
    editor, step = _step(family, random, networks)
    chain = f"{family}-{int(judged)}-{seed}"
    return _walked(family_of(family), editor, image, chain, pixels, lambda given: step(given, random), baselines=judged)


def _walked(
    family: str,
    editor: str,
    image: str,
    chain: str,
    pixels: Pixels,
    wear: Callable[[Pixels], Pixels],
    *,
    baselines: bool,
) -> list[Row]:
    """The rows of a chain, step upon step."""
    rows = []
    for number in range(max(STEPS) + 1):
        if number:
            pixels = wear(pixels)
        if number in STEPS:
            rows.append(row(family, editor, image, chain, number, pixels, baselines))
    return rows


def _step(family: str, random: np.random.Generator, networks: Path | None) -> tuple[str, Step]:
    if family == MIXED:
        return mixed(random)
    if family == NETWORK:
        return little(random, networks or Path("networks"))
    return family, FAMILIES[family](random)


def row(family: str, editor: str, image: str, chain: str, step: int, pixels: Pixels, baselines: bool) -> Row:
    """The features of one picture, and what the classics say of it where that is wanted."""
    from convergebench.metrics import load_metric
    from convergebench.metrics.base import Item

    cv2.setNumThreads(1)
    said = [load_metric(name).measure([Item(Frame(pixels))])[0].value for name in BASELINES] if baselines else []
    values = [float("nan") if value is None else value for value in said] or [float("nan")] * len(BASELINES)
    return Row(family, editor, image, chain, step, list(picture_features(pixels).values()), values)


def editor_chain(editor: str, image: str, side: int) -> list[Row]:
    """A chain of one of the package's editors on the middle square of a picture."""
    pixels, chain = sources.square(image, side), f"{editor}-{side}-{image}"
    return _walked(family_of(editor), editor, image, chain, pixels, partial(edited, editor), baselines=True)


def _gathered(futures: Sequence[Future[list[Row]]], within: float) -> tuple[list[Row], int]:
    """The rows of all chains that are made in time, and how many are not."""
    end, rows, left = monotonic() + within, list[Row](), 0
    for future in futures:
        try:
            rows += future.result(max(0.0, end - monotonic()))
        except TimeoutError:
            left += 1
    return rows, left


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--random", type=int, default=0, help="chains of the procedural families, in all")
    parser.add_argument("--judged", type=int, default=0, help="the same from pictures that are kept for judging")
    parser.add_argument("--mixed", type=int, default=0, help="chains of autoencoders mixed with other wear")
    parser.add_argument("--enhanced", type=int, default=0, help="chains of smoothing and sharpening")
    parser.add_argument("--little", type=int, default=0, help="chains of the little networks")
    parser.add_argument("--networks", type=Path, default=Path("networks"), help="folder with the little networks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--editors", default="", help="names of editors, with commas between")
    parser.add_argument("--side", type=int, default=sources.SIDE)
    parser.add_argument("--within", type=float, default=1e6, help="seconds after which no further chain is waited for")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args(given)
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn")) as pool:
        futures: list[Future[list[Row]]] = []
        for editor in [name for name in chosen.editors.split(",") if name]:
            futures += [pool.submit(editor_chain, editor, image, chosen.side) for image in sources.firsts()]
        for judged, count in ((False, chosen.random), (True, chosen.judged)):
            for family, share in SHARES.items():
                numbers = range(chosen.seed, chosen.seed + round(count * share))
                futures += [pool.submit(random_chain, family, number, judged) for number in numbers]
        for judged, count in ((False, chosen.mixed), (True, chosen.mixed // 5)):
            futures += [pool.submit(random_chain, MIXED, chosen.seed + number, judged) for number in range(count)]
        for judged, count in ((False, chosen.enhanced), (True, chosen.enhanced // 6)):
            numbers = range(chosen.seed, chosen.seed + count)
            futures += [pool.submit(random_chain, ENHANCED, number, judged) for number in numbers]
        for judged, count in ((False, chosen.little), (True, chosen.little // 5)):
            numbers = range(chosen.seed, chosen.seed + count)
            futures += [pool.submit(random_chain, NETWORK, number, judged, chosen.networks) for number in numbers]
        rows, left = _gathered(futures, chosen.within)
        pool.shutdown(cancel_futures=True)
    if left:
        print(f"{left} of {len(futures)} chains were not made within {chosen.within:.0f} s")  # noqa: T201
    save(chosen.out, rows)


if __name__ == "__main__":
    main()
