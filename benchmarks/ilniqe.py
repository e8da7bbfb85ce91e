"""IL-NIQE beside pyiqa, one thread each: python -m benchmarks.ilniqe

Milliseconds of processor time for one image, at two sizes and as two metrics. pyiqa gets the model out of our store,
and is left out where it is not installed; it takes so long that it runs once.
"""

from __future__ import annotations

import contextlib
import io
import os
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.no_reference import Timed, fastest, picture
from convergebench.errors import Prerequisite
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.weights import locate

METRICS = ("ilniqe", "ilniqe-matlab")


def pyiqa_ilniqe() -> Callable[[Pixels], float]:
    """pyiqa's metric, in float64 as it comes, with the model out of our store."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch

    from convergebench.metrics.torchvision_repair import ensure_torchvision

    torch.set_num_threads(1)
    path = locate("ilniqe-template")
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        ensure_torchvision()
        metric: Any = import_module("pyiqa").create_metric("ilniqe", device="cpu", pretrained_model_path=str(path))

    def score(pixels: Pixels) -> float:
        return float(metric(torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].float() / 255))

    return score


def has_pyiqa() -> bool:
    """Whether pyiqa can be asked."""
    return all(find_spec(name) is not None for name in ("pyiqa", "torch", "torchvision"))


def rows(repeats: int = 5) -> Iterator[Timed]:
    """Ours at two sizes; pyiqa's at the smaller one, since both enlarge or reduce to the same size first."""
    try:
        locate("ilniqe-template")
    except Prerequisite:
        return
    from tests.metrics.pictures import photograph

    small, large = photograph("astronaut", 512, 384), picture()
    theirs = None
    if has_pyiqa():
        ask = pyiqa_ilniqe()
        begun = time.thread_time()
        ask(small)
        theirs = 1000 * (time.thread_time() - begun)
    for name in METRICS:
        metric = load_metric(name)
        for pixels, size in ((small, "512×384"), (large, "1024×1024")):
            took = fastest(lambda metric=metric, pixels=pixels: metric.measure([Item(Frame(pixels))]), repeats=repeats)  # type: ignore[misc]
            beside = theirs if (name, size) == ("ilniqe", "512×384") else None
            yield Timed(f"{name} {size}", took, beside, "pyiqa" if beside is not None else "")


def main() -> None:
    """Print the table."""
    import cv2

    cv2.setNumThreads(1)
    for row in rows():
        ratio = "" if row.theirs_ms is None else f"{row.theirs_ms:10.1f} ms {row.theirs_ms / row.ours_ms:7.1f}×"
        print(f"{row.what:24}{row.ours_ms:8.1f} ms{ratio}  {row.library}")


if __name__ == "__main__":
    for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(_variable, "1")
    main()
