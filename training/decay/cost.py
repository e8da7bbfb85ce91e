"""What `decay` costs beside BRISQUE, in turns, on one thread: `python -m training.decay.cost`. Processor time."""

from __future__ import annotations

import os
from statistics import median
from time import process_time

SIDE = 1024


def main() -> None:
    """The command."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    import cv2
    import numpy as np

    from convergebench.images.frame import Frame
    from convergebench.metrics import load_metric
    from convergebench.metrics.base import Item

    cv2.setNumThreads(1)
    texture = np.random.default_rng(0).normal(128, 40, (SIDE, SIDE, 3)).astype(np.float32)
    pixels = np.asarray(np.clip(cv2.GaussianBlur(texture, (0, 0), 1.5) * 3 - 256, 0, 255), np.uint8)
    taken: dict[str, list[float]] = {"decay": [], "brisque": []}
    for _ in range(9):
        for name, times in taken.items():
            began = process_time()
            load_metric(name).measure([Item(Frame(pixels))])
            times.append(process_time() - began)
    own, other = (median(times[1:]) for times in taken.values())
    print(f"{1000 * own:.0f} ms for {SIDE} × {SIDE}, {own / other:.1f} times BRISQUE")  # noqa: T201


if __name__ == "__main__":
    main()
