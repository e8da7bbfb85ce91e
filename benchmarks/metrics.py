"""Our metrics against the libraries they stand in for, one thread each: python -m benchmarks.metrics [--json]

Run it from the root of the repository. Times are the smallest of several, in milliseconds of processor time; ratios are
taken inside one run, since a machine is never the same twice. piq is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import cv2  # noqa: E402
import numpy as np  # noqa: E402

from benchmarks import ilniqe, no_reference  # noqa: E402
from benchmarks.peers import load_piq, load_pyiqa, load_torchmetrics  # noqa: E402
from convergebench.images.frame import Frame, Pixels  # noqa: E402
from convergebench.metrics import expand, load_metric  # noqa: E402
from convergebench.metrics.base import Item  # noqa: E402
from tests.metrics import peers  # noqa: E402
from tests.metrics.pictures import photograph  # noqa: E402

FUSED = ("psnr", "ssim", "ms-ssim", "gmsd")


class Row(NamedTuple):
    """One line of the table; `theirs` is None where no library was timed."""

    what: str
    size: int
    ours_ms: float
    theirs_ms: float | None = None
    library: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as long the library takes."""
        return None if self.theirs_ms is None else self.theirs_ms / self.ours_ms


def fastest(work: Callable[[], object], *, repeats: int) -> float:
    """Smallest processor time of this thread, in milliseconds, after one run to warm up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return 1000 * min(times)


def pictures(side: int) -> tuple[Pixels, Pixels]:
    """A photograph and what JPEG makes of it."""
    reference = np.asarray(
        cv2.resize(photograph("astronaut", 512, 512), (side, side), interpolation=cv2.INTER_CUBIC), np.uint8
    )
    _, packed = cv2.imencode(".jpg", reference, [cv2.IMWRITE_JPEG_QUALITY, 40])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8), reference


def ours(names: tuple[str, ...] | list[str], subject: Pixels, reference: Frame, repeats: int) -> float:
    """A fresh subject each time, the reference's own work kept: what a chain of rounds costs per image."""
    loaded = [load_metric(name) for name in names]

    def work() -> None:
        item = Item(Frame(subject), reference)
        for metric in loaded:
            metric.measure([item])

    return fastest(work, repeats=repeats)


def theirs(subject: Pixels, reference: Pixels) -> dict[str, list[tuple[str, Callable[[], object]]]]:
    """Per metric, what each library would be called with."""
    calls: dict[str, list[tuple[str, Callable[[], object]]]] = {
        "psnr": [("scikit-image", lambda: peers.psnr(reference, subject))],
        "ssim": [("scikit-image", lambda: peers.ssim_published(reference, subject))],
        "ssim-skimage": [("scikit-image", lambda: peers.ssim_default(reference, subject))],
        "delta-e": [("scikit-image", lambda: peers.delta_e(reference, subject))],
    }
    piq: Any = load_piq()
    if piq is None:
        return calls
    import torch

    x, y = (torch.from_numpy(p.copy()).permute(2, 0, 1)[None].float() for p in (reference, subject))
    calls["ssim"].append(("piq", lambda: piq.ssim(y, x, data_range=255, downsample=False)))
    calls["ms-ssim"] = [("piq", lambda: piq.multi_scale_ssim(y, x, data_range=255))]
    calls["gmsd"] = [("piq", lambda: piq.gmsd(y, x, data_range=255))]
    torchmetrics: Any = load_torchmetrics()
    if torchmetrics is not None:
        full = {"data_range": 255.0}
        calls["psnr"].append(("torchmetrics", lambda: torchmetrics.peak_signal_noise_ratio(y, x, **full)))
        calls["ssim"].append(("torchmetrics", lambda: torchmetrics.structural_similarity_index_measure(y, x, **full)))
        calls["ms-ssim"].append(
            ("torchmetrics", lambda: torchmetrics.multiscale_structural_similarity_index_measure(y, x, **full))
        )
    for name, theirs_name in (("psnr", "psnr"), ("ssim", "ssimc"), ("ms-ssim", "ms_ssim"), ("gmsd", "gmsd")):
        judge: Any = load_pyiqa(theirs_name)
        if judge is not None:
            calls[name].append(("pyiqa", lambda judge=judge: judge(y / 255, x / 255)))  # type: ignore[misc]
    return calls


def fastest_libraries(subject: Pixels, reference: Pixels, *, repeats: int) -> dict[str, tuple[float, str]]:
    """Per metric: milliseconds and name of the fastest library."""
    return {
        name: min((fastest(call, repeats=repeats), library) for library, call in calls)
        for name, calls in theirs(subject, reference).items()
    }


def rows(repeats: int) -> Iterator[Row]:
    """The whole table."""
    subject, reference = pictures(1024)
    frame = Frame(reference)
    best: dict[str, float] = {}
    for name, calls in theirs(subject, reference).items():
        mine = ours((name,), subject, frame, repeats)
        for library, call in calls:
            took = fastest(call, repeats=max(1, repeats // 4))
            best[name] = min(took, best.get(name, took))
            yield Row(name, 1024, mine, took, library)
    whole = set(FUSED) <= set(best)
    total = sum(best[name] for name in FUSED) if whole else None
    together = ours(FUSED, subject, frame, repeats)
    yield Row(" + ".join(FUSED), 1024, together, total, "fastest library each" if whole else "")
    packed = cv2.imencode(".png", subject)[1]
    decode = fastest(lambda: cv2.imdecode(packed, cv2.IMREAD_COLOR), repeats=repeats)
    yield Row("decoding the same PNG (OpenCV)", 1024, decode)
    for timed in (*no_reference.rows(max(1, repeats // 2)), *ilniqe.rows(max(1, repeats // 4))):
        what, _, size = timed.what.partition(" ")  # IL-NIQE says its size itself
        side = no_reference.SIDE if not size else int(size.partition("×")[0])
        yield Row(what, side, timed.ours_ms, timed.theirs_ms, timed.library)
    small, small_reference = pictures(448)
    keep = Frame(small_reference)
    yield Row(
        "per round: classical + rmse + gist", 448, ours(expand(["classical", "rmse", "gist"]), small, keep, repeats)
    )
    yield Row("per step: all diagnostics", 448, ours(expand(["diagnostics"]), small, keep, repeats))
    yield Row("per step: happened", 448, ours(["happened"], small, keep, repeats))


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.metrics", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--repeats", type=int, default=12, help="runs per figure (the smallest counts)")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    found = list(rows(options.repeats))
    if options.json:
        print(json.dumps([{**row._asdict(), "ratio": row.ratio} for row in found], indent=1))
        return
    print(f"{'':38}{'side':>5}{'ours, ms':>10}{'theirs, ms':>12}{'ratio':>8}  library")
    for row in found:
        library = "–" if row.theirs_ms is None else f"{row.theirs_ms:.1f}"
        ratio = "–" if row.ratio is None else f"{row.ratio:.1f}×"
        print(f"{row.what:38}{row.size:>5}{row.ours_ms:>10.2f}{library:>12}{ratio:>8}  {row.library}")


if __name__ == "__main__":
    main()
