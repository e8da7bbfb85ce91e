"""Writes tests/golden/learned.csv from the originals' packages: python -m benchmarks.golden_learned

Run it from the root of the repository, in an environment that has lpips, DISTS_pytorch and stlpips-pytorch (with its
undeclared ipython and torchsummary) beside torchvision. The pictures are those of tests/metrics/pictures.py; values
are computed in float64.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import learned_peers as peers
from tests.metrics.pictures import GOLDEN, golden_pair

ROOT = Path(__file__).resolve().parents[1]
FIELDS = ("metric", "case", "value", "tolerance", "reason", "by")
NEEDED = ("lpips", "DISTS_pytorch", "stlpips_pytorch", "IPython", "torchsummary")
PEERS: dict[str, tuple[str, Callable[[], tuple[Any, peers.Peer]]]] = {
    "lpips": ("lpips", lambda: peers.lpips("alex")),
    "lpips-vgg": ("lpips", lambda: peers.lpips("vgg")),
    "dists": ("DISTS_pytorch", peers.dists),
    "st-lpips": ("stlpips-pytorch", lambda: peers.st_lpips("alex")),
    "st-lpips-vgg": ("stlpips-pytorch", lambda: peers.st_lpips("vgg")),
}


def rows() -> Iterator[dict[str, object]]:
    """One row per metric and case."""
    if not peers.has(*NEEDED):
        raise SystemExit(f"golden values need {', '.join(NEEDED)} and torchvision")
    import torch

    for metric, (package, load) in PEERS.items():
        module, call = load()
        module.double()
        for case in GOLDEN:
            y, x = (
                torch.from_numpy(np.array(picture)).permute(2, 0, 1)[None].double() / 255
                for picture in golden_pair(case)
            )
            with torch.inference_mode():
                value = float(call(x, y))
            by = f"{package} {version(package)}"
            yield dict(zip(FIELDS, (metric, case, repr(value), 2e-6, "float32 features", by), strict=True))


def main() -> None:
    """Write the file."""
    path = ROOT / "tests" / "golden" / "learned.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(list(rows()))


if __name__ == "__main__":
    main()
