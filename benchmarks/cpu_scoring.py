"""What each part of PSNR, SSIM, MS-SSIM and GMSD costs on one thread: python -m benchmarks.cpu_scoring [--repeats N]

Run it from the root of the repository. The first table has the parts of scoring one image of a chain, the second one
the same metrics by libraries, in the same run. Milliseconds of processor time of this thread, smallest of several.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import cv2

from benchmarks.metrics import FUSED, fastest, ours, pictures, theirs
from convergebench.images.frame import Frame
from convergebench.metrics._planes import planes
from convergebench.metrics.base import Item
from convergebench.metrics.full_reference import _structure
from convergebench.metrics.full_reference._squares import mean_squared_error
from convergebench.metrics.full_reference.gmsd import gmsd, squared_gradient
from convergebench.metrics.full_reference.ms_ssim import WEIGHTS

LAST = len(WEIGHTS) - 1


def parts(subject: Frame, reference: Frame) -> Iterator[tuple[str, Callable[[], object]]]:
    """The parts, each with what it needs already there."""
    pixels = subject.pixels

    def own_work() -> None:
        alone = Frame(reference.pixels)
        squared_gradient(alone)
        for level in range(LAST + 1):
            _structure._local(alone, level)

    def coarser() -> None:
        for level in range(1, LAST):
            _structure._means(subject, reference, level)
        _structure._means(subject, reference, LAST, luminance=True)

    def gradients() -> None:
        bare = Frame(pixels)
        bare.derived(("planes", 1), lambda _: planes(subject, 1))
        gmsd(Item(bare, reference))

    yield "planes of the image, and their halves", lambda: planes(Frame(pixels), LAST)
    yield "structure at full size (SSIM)", lambda: _structure._means(subject, reference, 0, luminance=True)
    yield "structure of the four halves (MS-SSIM)", coarser
    yield "gradients and their deviation (GMSD)", gradients
    yield "squared error (PSNR)", lambda: mean_squared_error(subject, reference)
    yield "the reference's own part, once per chain", own_work


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cpu_scoring", description=__doc__)
    parser.add_argument("--repeats", type=int, default=20, help="runs per figure (the smallest counts)")
    repeats = parser.parse_args().repeats
    cv2.setNumThreads(1)
    pixels, original = pictures(1024)
    subject, reference = Frame(pixels), Frame(original)
    ours(FUSED, pixels, reference, 1)
    for what, work in parts(subject, reference):
        print(f"{what:48}{fastest(work, repeats=repeats):9.2f} ms")
    print(f"{'all four of a new image':48}{ours(FUSED, pixels, reference, repeats):9.2f} ms\n")
    by_library: dict[str, dict[str, Callable[[], object]]] = {}
    for name, calls in theirs(pixels, original).items():
        for library, call in calls:
            if name in FUSED:
                by_library.setdefault(library, {})[name] = call
    for library, given in by_library.items():
        took = sum(fastest(call, repeats=max(1, repeats // 4)) for call in given.values())
        mine = ours(tuple(given), pixels, reference, repeats)
        print(f"{library + ': ' + ' + '.join(given):48}{took:9.1f} ms, ours {mine:.1f} ms: {took / mine:.1f}×")


if __name__ == "__main__":
    main()
