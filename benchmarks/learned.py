"""Learned full-reference metrics over a chain of images against one reference: python -m benchmarks.learned

On a processor: one thread, beside the plain pairwise call of the libraries that are installed; milliseconds of
processor time for the whole chain, smallest of several. With `--device cuda`: images per second, in float32 and in
bfloat16, and how far the two are apart. A metric whose weights are missing is named and left out. `--save-pictures`
writes the pictures to a file and `--pictures` reads them from it, for a machine that has torch and little else.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from convergebench.errors import Prerequisite
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics.base import BatchMetric, Item
from convergebench.metrics.place import Place, Precision, place

NAMES = ("lpips", "lpips-vgg", "dists", "st-lpips", "st-lpips-vgg")
LENGTH = 10


class Pictures(NamedTuple):
    """A chain of subjects with their reference, and pairs of all kinds."""

    reference: Pixels
    chain: list[Pixels]
    pairs: list[tuple[Pixels, Pixels]]


def made(side: int) -> Pictures:
    """A photograph that is compressed harder from step to step, and the pairs that golden values are kept for."""
    import cv2

    from tests.metrics.pictures import GOLDEN, golden_pair, jpeg, photograph

    whole = photograph("astronaut", 512, 512)
    reference = np.asarray(cv2.resize(whole, (side, side), interpolation=cv2.INTER_CUBIC), np.uint8)
    chain = [jpeg(reference, 90 - 8 * step) for step in range(LENGTH)]
    return Pictures(reference, chain, [golden_pair(case) for case in GOLDEN] + [(one, reference) for one in chain])


def saved(path: Path) -> Pictures:
    """Pictures that `save` wrote."""
    with np.load(path, allow_pickle=False) as content:
        count = len(content.files) // 2
        pairs = [(content[f"subject{index}"], content[f"reference{index}"]) for index in range(count)]
    return Pictures(pairs[-1][1], [subject for subject, _ in pairs[-LENGTH:]], pairs)


def save(pictures: Pictures, path: Path) -> None:
    """For a machine without OpenCV and scikit-image."""
    subjects = {f"subject{index}": subject for index, (subject, _) in enumerate(pictures.pairs)}
    references = {f"reference{index}": reference for index, (_, reference) in enumerate(pictures.pairs)}
    arrays: Mapping[str, Any] = {**subjects, **references}
    np.savez_compressed(path, **arrays)


def metric(name: str) -> BatchMetric:
    """Straight from its file, so that no table and nothing else is loaded."""
    word = name.replace("-", "_")
    found: BatchMetric = getattr(import_module(f"convergebench.metrics.full_reference.{word}"), word)
    return found


def values(name: str, items: Sequence[Item]) -> list[float]:
    """In the batches that a run would make."""
    measured, size = metric(name), metric(name).facts.batch
    readings = [one for first in range(0, len(items), size) for one in measured.measure(items[first : first + size])]
    return [float("nan") if reading.value is None else reading.value for reading in readings]


def as_chain(name: str, pictures: Pictures) -> None:
    """One reference for all: its features are worked out once."""
    reference = Frame(pictures.reference)
    values(name, [Item(Frame(subject), reference) for subject in pictures.chain])


def as_pairs(name: str, pictures: Pictures) -> None:
    """A new reference for each, one pair at a time: both features are worked out each time."""
    for subject in pictures.chain:
        values(name, [Item(Frame(subject), Frame(pictures.reference))])


def smallest(work: Callable[[], object], clock: Callable[[], float], repeats: int) -> float:
    """Seconds, after one run to warm up."""
    work()
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def libraries(name: str) -> Iterator[tuple[str, Callable[[Any, Any], Any]]]:
    """The plain pairwise call of each library that is here."""
    from benchmarks import learned_peers as peers

    net = "vgg" if name.endswith("vgg") else "alex"
    if name.startswith("lpips") and peers.has("lpips"):
        yield "lpips", peers.lpips(net)[1]
    if name.startswith("lpips") and peers.has("torchmetrics"):
        yield "torchmetrics", peers.torchmetrics_lpips(net)[1]
    if name == "dists" and peers.has("DISTS_pytorch"):
        yield "DISTS_pytorch", peers.dists()[1]
    if name.startswith("st-") and peers.has("stlpips_pytorch", "IPython", "torchsummary"):
        yield "stlpips-pytorch", peers.st_lpips(net)[1]


def on_processor(names: Sequence[str], pictures: Pictures, repeats: int) -> Iterator[str]:
    """One line per metric and library."""
    import torch

    torch.set_num_threads(1)

    def tensor(pixels: Pixels) -> torch.Tensor:
        return torch.from_numpy(np.array(pixels)).permute(2, 0, 1)[None].float() / 255

    reference, chain = tensor(pictures.reference), [tensor(one) for one in pictures.chain]
    yield f"{'chain of ' + str(LENGTH):14}{'side':>6}{'ours, ms':>10}{'theirs, ms':>12}{'ratio':>8}  plain pairwise by"
    for name in names:
        try:
            ours = 1000 * smallest(partial(as_chain, name, pictures), time.thread_time, repeats)
        except Prerequisite as reason:
            yield f"{name:14} left out: {reason}"
            continue
        rivals = {"ourselves": partial(as_pairs, name, pictures)}
        rivals |= {library: partial(pairwise, call, reference, chain) for library, call in libraries(name)}
        for library, rival in rivals.items():
            theirs = 1000 * smallest(rival, time.thread_time, repeats)
            side = pictures.reference.shape[0]
            yield f"{name:14}{side:>6}{ours:>10.0f}{theirs:>12.0f}{theirs / ours:>7.2f}×  {library}"


def pairwise(call: Callable[[Any, Any], Any], reference: Any, chain: Sequence[Any]) -> None:
    """As a library is used."""
    import torch

    with torch.inference_mode():
        for subject in chain:
            float(call(reference, subject))


def on_device(device: str, names: Sequence[str], pictures: Pictures, repeats: int) -> Iterator[str]:
    """Speed in both precisions, and the error of the smaller one."""
    side = pictures.reference.shape[0]
    yield f"{'images a second':14}{'side':>5} {'precision':10}{'chain':>8}{'pairs':>8}{'ratio':>8}"
    precisions: tuple[Precision, ...] = ("float32", "bfloat16")
    for name in names:
        found: dict[str, list[float]] = {}
        try:
            for precision in precisions:
                with place(Place(device, precision)):
                    chain, pairs = (
                        LENGTH / smallest(partial(work, name, pictures), time.perf_counter, repeats)
                        for work in (as_chain, as_pairs)
                    )
                    items = [Item(Frame(subject), Frame(reference)) for subject, reference in pictures.pairs]
                    found[precision] = values(name, items)
                yield f"{name:14}{side:>6} {precision:10}{chain:>8.1f}{pairs:>8.1f}{chain / pairs:>7.2f}×"
            with place(Place("cpu")):
                count = len(pictures.pairs) - LENGTH + 1
                items = [Item(Frame(subject), Frame(reference)) for subject, reference in pictures.pairs[:count]]
                apart = np.abs(np.subtract(values(name, items), found["float32"][:count])).max()
        except Prerequisite as reason:
            yield f"{name:14} left out: {reason}"
            continue
        error = np.abs(np.subtract(found["bfloat16"], found["float32"]))
        yield f"{'':14}|bfloat16 − float32| max {error.max():.1e}, mean {error.mean():.1e}, {len(error)} pairs"
        yield f"{'':14}|float32 here − on the processor| max {apart:.1e}, {count} pairs"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learned", description=__doc__)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--side", type=int, default=512, help="pixels a side of the chain's images")
    parser.add_argument("--repeats", type=int, default=3, help="runs per figure (the smallest counts)")
    parser.add_argument("--metric", action="append", choices=NAMES, help="only these")
    parser.add_argument("--pictures", type=Path, help="take the pictures from this file")
    parser.add_argument("--save-pictures", type=Path, help="write the pictures to this file and do nothing else")
    options = parser.parse_args()
    pictures = saved(options.pictures) if options.pictures else made(options.side)
    if options.save_pictures:
        save(pictures, options.save_pictures)
        return
    names = options.metric or NAMES
    one_thread = options.device == "cpu"
    if one_thread:
        os.environ["OMP_NUM_THREADS"] = "1"
    lines = on_processor if one_thread else lambda *rest: on_device(options.device, *rest)
    for line in lines(names, pictures, options.repeats):
        print(line, flush=True)


if __name__ == "__main__":
    main()
