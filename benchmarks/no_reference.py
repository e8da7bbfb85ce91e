"""No-reference metrics against pyiqa and pypiqe, one thread each: python -m benchmarks.no_reference

Milliseconds of processor time for one image of 1024×1024 pixels, smallest of several. The libraries get the weights out
of our store; one that is not installed, or a metric whose weights are missing, is left out.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from convergebench.errors import Prerequisite
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.weights import locate
from convergebench.weights.loading import arrays

Peer = Callable[[Pixels], float]
"""An image → what the library says of it."""
SIDE = 1024


class Timed(NamedTuple):
    """One line: ours beside a library; `theirs_ms` is None where none is installed."""

    what: str
    ours_ms: float
    theirs_ms: float | None = None
    library: str = ""


def peers() -> Iterator[tuple[str, str, Peer]]:
    """Metric, library and call, for what is installed."""
    if find_spec("pyiqa") is not None and find_spec("torchvision") is not None:
        for name in ("brisque", "niqe", "piqe"):
            with contextlib.suppress(Prerequisite):
                yield name, "pyiqa", pyiqa_peer(name)
    if find_spec("pypiqe") is not None:
        yield "piqe", "pypiqe", pypiqe_peer()


def pyiqa_peer(name: str) -> Peer:
    """pyiqa's metric with our weights in the form it reads."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch

    from convergebench.metrics.torchvision_repair import ensure_torchvision

    torch.set_num_threads(1)
    with _quietly(), tempfile.TemporaryDirectory() as folder:
        ensure_torchvision()
        options = _options(name, Path(folder) / "model")
        metric: Any = import_module("pyiqa").create_metric(name, device="cpu", **options)

    def score(pixels: Pixels) -> float:
        return float(metric(torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].float() / 255))

    return score


def _options(name: str, path: Path) -> dict[str, str]:
    """Arguments of `create_metric`; the model is written to `path`."""
    if name == "brisque":
        import torch

        from convergebench.metrics.no_reference.brisque import read_machine

        machine = read_machine(locate("brisque-live"))
        torch.save((torch.tensor(machine.weights).float(), torch.tensor(machine.vectors).float()), path)
    elif name == "niqe":
        from scipy.io import savemat

        model = arrays(locate("niqe-live"))
        content = {"mu_prisparam": model["mu_pris_param"], "cov_prisparam": model["cov_pris_param"]}
        savemat(path, content, appendmat=False)
    else:
        return {}
    return {"pretrained_model_path": str(path)}


def pypiqe_peer() -> Peer:
    """A port of MATLAB's piqe."""
    call: Any = import_module("pypiqe").piqe
    return lambda pixels: float(call(np.ascontiguousarray(pixels[..., ::-1]))[0])


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """These packages print and warn while they load."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def picture() -> Pixels:
    """A photograph, enlarged and compressed."""
    import cv2

    from tests.metrics.pictures import jpeg, photograph

    large = cv2.resize(photograph("astronaut", 512, 512), (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
    return jpeg(np.asarray(large, np.uint8), 60)


def fastest(work: Callable[[], object], *, repeats: int) -> float:
    """Smallest processor time of this thread, in milliseconds, after one run to warm up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return 1000 * min(times)


def rows(repeats: int = 12) -> Iterator[Timed]:
    """Each metric beside each library that has it, and all three of ours on one image."""
    pixels = picture()
    ours = {}
    for name in ("brisque", "niqe", "piqe"):
        metric = load_metric(name)
        with contextlib.suppress(Prerequisite):
            ours[name] = fastest(lambda metric=metric: metric.measure([Item(Frame(pixels))]), repeats=repeats)  # type: ignore[misc]
    beside = dict.fromkeys(ours, False)
    for name, library, call in peers():
        if name in ours:
            theirs = fastest(lambda call=call: call(pixels), repeats=max(1, repeats // 4))  # type: ignore[misc]
            beside[name] = True
            yield Timed(name, ours[name], theirs, library)
    for name, done in beside.items():
        if not done:
            yield Timed(name, ours[name])


def main() -> None:
    """Print the table."""
    import cv2

    cv2.setNumThreads(1)
    for row in rows():
        ratio = "" if row.theirs_ms is None else f"{row.theirs_ms:10.1f} ms {row.theirs_ms / row.ours_ms:7.1f}×"
        print(f"{row.what:10}{row.ours_ms:8.1f} ms{ratio}  {row.library}")


if __name__ == "__main__":
    for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(_variable, "1")
    main()
