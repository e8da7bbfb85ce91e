"""Writes tests/golden/no_reference.csv from other people's code: python -m benchmarks.golden_no_reference

Run it from the root of the repository, in an environment that has pyiqa and pypiqe. The pictures are the damaged ones
of tests/metrics/pictures.py. Rows of metrics whose peer is not installed here are kept as they are, so that several
environments can each write theirs; a metric is added by a function in `MAKERS`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.no_reference import pyiqa_peer, pypiqe_peer
from convergebench.images.frame import Pixels
from tests.metrics.pictures import GOLDEN, golden_pair

PATH = Path(__file__).resolve().parents[1] / "tests" / "golden" / "no_reference.csv"
FIELDS = ("metric", "case", "value", "tolerance", "reason", "by")
Row = dict[str, str]
EVEN = "even areas, where the peer lets rounding errors decide"


def as_luma(pixels: Pixels) -> Pixels:
    """MATLAB's rgb2gray in all three channels: the peers round another luma."""
    weights = np.linalg.inv([[1, 0.956, 0.621], [1, -0.272, -0.647], [1, -1.106, 1.703]])[0]
    luma = np.floor(pixels @ weights + 0.5).astype(np.uint8)
    return np.repeat(luma[..., None], 3, axis=2)


def brisque() -> Iterator[Row]:
    """pyiqa computes in float32, which moves a shape by a step of its grid now and then."""
    for case, value in _values(pyiqa_peer("brisque")):
        even = case == "astronaut-coarse"
        yield _row("brisque", case, value, 2.0 if even else 0.01, EVEN if even else "float32 in the peer", "pyiqa")


def niqe() -> Iterator[Row]:
    """pyiqa computes in float64; small differences are even spots."""
    for case, value in _values(pyiqa_peer("niqe")):
        even = case == "astronaut-coarse"
        yield _row("niqe", case, value, 0.4 if even else 0.005, EVEN, "pyiqa")


def piqe() -> Iterator[Row]:
    """pypiqe, since pyiqa leaves part of an image out unless its sides are multiples of 16."""
    for case, value in _values(pypiqe_peer()):
        yield _row("piqe", case, value, 0.005, "float32 coefficients; the peer rounds halves to even", "pypiqe")


MAKERS: Mapping[str, tuple[str, Callable[[], Iterator[Row]]]] = {
    "brisque": ("pyiqa", brisque),
    "niqe": ("pyiqa", niqe),
    "piqe": ("pypiqe", piqe),
}
"""Metric → the package it needs, and what makes its rows."""


def _values(peer: Callable[[Pixels], float]) -> Iterator[tuple[str, float]]:
    for case in GOLDEN:
        yield case, peer(as_luma(golden_pair(case)[0]))


def _row(metric: str, case: str, value: float, tolerance: float, reason: str, package: str) -> Row:
    return dict(
        zip(FIELDS, (metric, case, repr(value), str(tolerance), reason, f"{package} {version(package)}"), strict=True)
    )


def main() -> None:
    """Write the file."""
    kept = list(csv.DictReader(PATH.read_text(encoding="utf-8").splitlines())) if PATH.exists() else []
    made = {metric: list(make()) for metric, (package, make) in MAKERS.items() if find_spec(package) is not None}
    others = [row for row in kept if row["metric"] not in made]
    with PATH.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([row for rows in made.values() for row in rows] + others)


if __name__ == "__main__":
    main()
