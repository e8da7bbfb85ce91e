"""Writes tests/golden/full_reference.csv from piq and scikit-image: python -m benchmarks.golden

Run it from the root of the repository, in an environment that has piq. The pictures are those of
tests/metrics/pictures.py; values are computed in float64.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks.peers import load_piq
from tests.metrics import peers
from tests.metrics.pictures import GOLDEN, golden_pair

ROOT = Path(__file__).resolve().parents[1]
FIELDS = ("metric", "case", "value", "tolerance", "reason", "by")
FLOAT32 = "float32 local statistics"


def rows() -> Iterator[dict[str, object]]:
    """One row per metric and case."""
    import torch

    piq = load_piq()
    if piq is None:
        raise SystemExit('golden values need piq: pip install "convergebench[bench]"')
    by_piq, by_skimage = f"piq {version('piq')}", f"scikit-image {version('scikit-image')}"
    for case in GOLDEN:
        y, x = golden_pair(case)
        a, b = (torch.from_numpy(np.array(p)).permute(2, 0, 1)[None].double() for p in (y, x))
        exact, full = "the same arithmetic", {"data_range": 255}
        found = [
            ("psnr", peers.psnr(x, y), 1e-9, exact, by_skimage),
            ("rmse", peers.rmse(x, y), 1e-9, exact, by_skimage),
            ("ssim-skimage", peers.ssim_default(x, y), 1e-9, exact, by_skimage),
            ("ssim", piq.ssim(a, b, downsample=False, **full).item(), 2e-6, FLOAT32, by_piq),
            ("gmsd", piq.gmsd(a, b, **full).item(), 2e-6, FLOAT32, by_piq),
            ("ms-ssim", piq.multi_scale_ssim(a, b, **full).item(), 2e-6, FLOAT32, by_piq),
            ("delta-e", peers.delta_e(x, y), 1e-4, "float32 colour", by_skimage),
        ]
        for metric, value, tolerance, reason, by in found:
            yield dict(zip(FIELDS, (metric, case, repr(float(value)), tolerance, reason, by), strict=True))


def main() -> None:
    """Write the file."""
    path = ROOT / "tests" / "golden" / "full_reference.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows())


if __name__ == "__main__":
    main()
