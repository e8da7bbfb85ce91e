"""Scoring on an NVIDIA GPU beside torchmetrics and pyiqa, in one run: python -m benchmarks.gpu --pictures FILE

First, on any machine: `python -m benchmarks.gpu --write FILE` saves a photograph and the values of the processor.
Then, on the GPU: how fast memory is (the floor), pixel metrics, networks, what sending images costs, and how far the
values are from the processor's. All rates are pairs a second, fastest of `--repeats`, with the images on the GPU unless
a line says otherwise. A library or weight that is not there is named and left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks import gpu_files, gpu_random
from benchmarks import gpu_peers as peers
from benchmarks.gpu_pictures import KINDS, NETWORKS, PIXEL_METRICS, cases, damaged, enlarged, read, write
from convergebench.errors import Prerequisite
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics.full_reference._learned import measured
from convergebench.metrics.gpu import pixels
from convergebench.metrics.gpu.uploading import Stored, uploaded
from convergebench.metrics.place import Place, Precision, place

DEVICE = "cuda"
THREE = ("ssim", "ms-ssim", "psnr")
OURS: dict[str, Callable[[Sequence[pixels.Pair], str], list[float]]] = {
    "psnr": pixels.psnr, "rmse": pixels.rmse, "ssim": pixels.ssim, "ms-ssim": pixels.ms_ssim, "gmsd": pixels.gmsd,
    "delta-e": pixels.delta_e,
}  # fmt: skip
PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16")


def fastest(work: Callable[[], object], repeats: int) -> float:
    """Seconds, after two runs to warm up; all work on the GPU is waited for."""
    times = []
    for turn in range(repeats + 2):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        if turn > 1:
            times.append(time.perf_counter() - start)
    return min(times)


def fresh(frames: Sequence[Frame]) -> list[Frame]:
    """The same images, already sent, with nothing else worked out."""
    made = [Frame(frame.pixels) for frame in frames]
    for frame, there in zip(made, uploaded(frames, DEVICE), strict=True):
        frame.derived(("uploaded", DEVICE), lambda _: list[Stored]()).append(there)
    return made


def three(subjects: Sequence[Frame], references: Sequence[Frame]) -> None:
    """SSIM, MS-SSIM and PSNR, as a study's workers ask for them: one metric after the other."""
    pairs = list(zip(fresh(subjects), references, strict=True))
    for name in THREE:
        OURS[name](pairs, DEVICE)


def memory(side: int, repeats: int) -> tuple[float, list[str]]:
    """Bytes a second that a copy reads and writes, and the rate at which pairs could be read."""
    block = torch.empty(1 << 32, dtype=torch.uint8, device=DEVICE)
    other = torch.empty_like(block)
    rate = 2 * block.numel() / fastest(lambda: other.copy_(block), repeats)
    floor = rate / (2 * 3 * side * side)
    return floor, [
        f"copy on the GPU: {rate / 1e12:.2f} TB/s; reading pairs of {side}² at that rate: {floor:,.0f} pairs/s"
    ]


def pixel_rates(base: Pixels, options: Any, floor: float) -> Iterator[str]:
    """Ours beside the libraries."""
    side, count = options.side, options.pairs
    reference = enlarged(base, side)
    kinds = [damaged(reference, kind, seed) for seed, kind in enumerate(KINDS[1:])]
    subjects = [Frame(kinds[place % len(kinds)]) for place in range(count)]
    one = Frame(reference)
    chain = [one] * count
    yield f"{'SSIM + MS-SSIM + PSNR, ' + str(side) + '²':44}{'pairs/s':>10}"
    ours = count / fastest(lambda: three(subjects, chain), options.repeats)
    yield f"{'ours, one reference for all':44}{ours:>10,.0f}"
    others = fresh([Frame(reference) for _ in range(count)])
    apart = count / fastest(lambda: three(subjects, fresh(others)), options.repeats)
    yield f"{'ours, a reference for each':44}{apart:>10,.0f}"
    sent = count / fastest(lambda: three([Frame(frame.pixels) for frame in subjects], chain), options.repeats)
    yield f"{'ours, subjects sent from memory each time':44}{sent:>10,.0f}"
    yield f"{'share of the floor':44}{ours / floor:>10.1%}"
    tensors = [torch.from_numpy(frame.pixels).to(DEVICE).permute(2, 0, 1).float() for frame in subjects]
    beside = torch.from_numpy(reference).to(DEVICE).permute(2, 0, 1).float()
    for library, call in peers.three():
        try:
            rate, size = best_batch(call, tensors, beside, options.repeats)
        except Exception as error:
            yield f"{library:44} failed: {type(error).__name__}: {error}"
            continue
        times = f"ours: {ours / rate:.1f} times ({apart / rate:.1f})"
        yield f"{library + f', batches of {size}':44}{rate:>10,.0f}   {times}"
    for name in ("gmsd", "delta-e"):
        pairs = list(zip(subjects, chain, strict=True))
        rate = count / fastest(partial(OURS[name], pairs, DEVICE), options.repeats)
        yield f"{'ours, ' + name:44}{rate:>10,.0f}"


def best_batch(call: Callable[[Any, Any], Any], tensors: Sequence[Any], beside: Any, repeats: int) -> tuple[float, int]:
    """The rate with the batch size that suits a library best."""
    found = []
    for size in (1, 4, 16, 32):
        if size > len(tensors):
            break
        batches = [torch.stack(list(tensors[first : first + size])) for first in range(0, len(tensors), size)]
        several = beside.expand(size, -1, -1, -1).contiguous()

        def work(batches: Sequence[Any] = batches, several: Any = several) -> None:
            with torch.inference_mode():
                for batch in batches:
                    call(batch, several[: len(batch)])

        found.append((len(tensors) / fastest(work, max(1, repeats - 2)), size))
    return max(found)


def network_rates(base: Pixels, options: Any) -> Iterator[str]:
    """Distances by networks: one reference for all, whose features are kept."""
    side = options.side
    reference = Frame(enlarged(base, side))
    kinds = [damaged(reference.pixels, kind, seed) for seed, kind in enumerate(KINDS[1:])]
    yield f"{'networks, ' + str(side) + '²':32}{'precision':>10}{'pairs/s':>10}{'sent':>10}"
    for name in options.metric or NETWORKS:
        count = options.pairs if "vgg" not in name and name != "dists" else max(8, options.pairs // 4)
        subjects = [Frame(kinds[turn % len(kinds)]) for turn in range(count)]
        rates = {}
        for precision in PRECISIONS:
            try:
                with place(Place(DEVICE, precision)):
                    there = partial(measure, name, subjects, reference)
                    away = partial(send, name, subjects, reference)
                    rates[precision] = count / fastest(there, options.repeats)
                    sent = count / fastest(away, options.repeats)
            except Prerequisite as reason:
                yield f"{name:32} left out: {reason}"
                break
            yield f"{name:32}{precision:>10}{rates[precision]:>10,.0f}{sent:>10,.0f}"
        tensors = [torch.from_numpy(frame.pixels).to(DEVICE).permute(2, 0, 1).float() / 255 for frame in subjects]
        beside = torch.from_numpy(reference.pixels).to(DEVICE).permute(2, 0, 1).float() / 255
        for library, load in peers.networks(name):
            try:
                rate, size = best_batch(load(), tensors, beside, options.repeats)
            except Exception as error:
                yield f"  {library}: failed: {type(error).__name__}: {error}"
                continue
            ratios = ", ".join(f"{ours / rate:.1f} in {precision}" for precision, ours in rates.items())
            yield f"  {library + f', batches of {size}':40}{rate:>10,.0f}   ours is faster by: {ratios}"


def measure(name: str, subjects: Sequence[Frame], reference: Frame) -> None:
    """The images are on the GPU."""
    measured([(frame, reference) for frame in subjects], name)


def send(name: str, subjects: Sequence[Frame], reference: Frame) -> None:
    """The subjects are sent each time."""
    measured([(Frame(frame.pixels), reference) for frame in subjects], name)


def errors(base: Pixels, values: dict[str, dict[str, float]]) -> Iterator[str]:
    """How far the GPU's values are from the processor's, over all cases."""
    yield f"{'|GPU − processor|':16}{'precision':>10}{'largest':>11}  in"
    for name in (*PIXEL_METRICS, *NETWORKS):
        for precision in PRECISIONS if name in NETWORKS else PRECISIONS[:1]:
            worst: tuple[float, str] = (0.0, "no case")
            try:
                for case, subject, reference in cases(base, small=name in NETWORKS):
                    expected = values.get(name, {}).get(case)
                    if expected is None and name in NETWORKS:
                        with place(Place("cpu")):
                            expected = measured([(Frame(subject), Frame(reference))], name)[0]
                    if expected is None or (name == "gmsd" and (subject.shape[0] % 2 or subject.shape[1] % 2)):
                        continue
                    with place(Place(DEVICE, precision)):
                        pair = [(Frame(subject), Frame(reference))]
                        found = (OURS[name](pair, DEVICE) if name in OURS else measured(pair, name))[0]
                    apart = 0.0 if found == expected else abs(found - expected)
                    worst = max(worst, (apart, case))
            except Prerequisite as reason:
                yield f"{name:16} left out: {reason}"
                break
            yield f"{name:16}{precision:>10}{worst[0]:>11.1e}  {worst[1]}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--write", type=Path, help="write pictures and the processor's values to this file, and stop")
    parser.add_argument("--pictures", type=Path, help="the file that --write made")
    parser.add_argument("--side", type=int, default=1024)
    parser.add_argument("--pairs", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--part", action="append", choices=("errors", "pixels", "networks", "files"), help="only these")
    parser.add_argument("--random", action="store_true", help="networks with random weights, where theirs are not here")
    parser.add_argument("--metric", action="append", choices=NETWORKS, help="only these networks")
    options = parser.parse_args()
    if options.write:
        write(options.write)
        return
    base, values = read(options.pictures)
    if options.random:
        gpu_random.plant()
        values = {name: one for name, one in values.items() if name not in NETWORKS}
    parts = options.part or ("errors", "pixels", "networks", "files")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}", flush=True)
    floor, lines = memory(options.side, options.repeats)
    print(*lines, sep="\n", flush=True)
    works: dict[str, Callable[[], Iterator[str]]] = {
        "errors": lambda: errors(base, values),
        "pixels": lambda: pixel_rates(base, options, floor),
        "networks": lambda: network_rates(base, options),
        "files": lambda: gpu_files.rates(base, options.side, 4 * options.pairs),
    }
    for part, work in works.items():
        if part in parts:
            for line in work():
                print(line, flush=True)


if __name__ == "__main__":
    main()
