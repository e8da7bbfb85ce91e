"""Writes the rows of IL-NIQE and CNNIQA in tests/golden/no_reference.csv from other people's code.

    python -m benchmarks.golden_ilniqe_cnniqa [--cnniqa FOLDER]

Run it from the root of the repository. `ilniqe` needs pyiqa; `ilniqe-matlab` is the plain program in tests/metrics,
since nobody runs MATLAB in a test; `cnniqa-live` needs torchvision, h5py and a copy of the repository lidq92/CNNIQA in
FOLDER, whose own code is run. Rows of metrics that cannot be made here are kept as they are.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.golden_no_reference import EVEN, FIELDS, PATH, Row
from benchmarks.ilniqe import has_pyiqa, pyiqa_ilniqe
from convergebench.weights import locate
from tests.metrics import plain_ilniqe
from tests.metrics.pictures import GOLDEN, golden_pair

COMMIT = "fb36830fc6491ef8db2dc651aaad94cdbee131fa"


def ilniqe() -> Iterator[Row]:
    """pyiqa resizes in float32 (its one real difference, 0.08 where black is clipped), the rest is even areas."""
    ask = pyiqa_ilniqe()
    for case in GOLDEN:
        even = case == "astronaut-coarse"
        reason = EVEN if even else "the peer resizes in float32"
        yield _row("ilniqe", case, ask(golden_pair(case)[0]), 0.4 if even else 0.1, reason, f"pyiqa {version('pyiqa')}")


def ilniqe_matlab() -> Iterator[Row]:
    """The same formulas without haste."""
    for case in GOLDEN:
        value = plain_ilniqe.ilniqe(golden_pair(case)[0], rounded=True, faintest=2**-52)
        yield _row(
            "ilniqe-matlab", case, value, 0.002, "float32 logarithms and powers", "tests/metrics/plain_ilniqe.py"
        )


def cnniqa_live(folder: Path) -> Iterator[Row]:
    """The network and the patches of the repository that the weights come from."""
    import torch
    from PIL import Image

    from convergebench.metrics.torchvision_repair import ensure_torchvision

    ensure_torchvision()
    sys.path.insert(0, str(folder))
    demo: Any = import_module("test_demo")
    network = demo.CNNIQAnet()
    network.load_state_dict(torch.load(locate("cnniqa-live"), map_location="cpu", weights_only=True))
    network.eval()
    for case in GOLDEN:
        grey = Image.fromarray(np.asarray(golden_pair(case)[0])).convert("L")
        with torch.inference_mode():
            value = float(network(torch.stack(demo.NonOverlappingCropPatches(grey, 32, 32))).mean())
        yield _row("cnniqa-live", case, value, 1e-4, "float32 features", f"lidq92/CNNIQA {COMMIT[:7]}")


def _row(metric: str, case: str, value: float, tolerance: float, reason: str, by: str) -> Row:
    return dict(zip(FIELDS, (metric, case, repr(float(value)), str(tolerance), reason, by), strict=True))


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.golden_ilniqe_cnniqa")
    parser.add_argument("--cnniqa", type=Path, help="a copy of lidq92/CNNIQA")
    options = parser.parse_args()
    made = [*(ilniqe() if has_pyiqa() else ()), *ilniqe_matlab()]
    made += cnniqa_live(options.cnniqa) if options.cnniqa else ()
    names = {row["metric"] for row in made}
    kept = [row for row in csv.DictReader(PATH.read_text(encoding="utf-8").splitlines()) if row["metric"] not in names]
    with PATH.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept + made)


if __name__ == "__main__":
    main()
