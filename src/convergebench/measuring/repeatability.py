"""Repeatability of a metric: one picture scored again in other conditions, without any cache.

`twice` (the same process), `process` (a new one), `threads` (two instead of one), `device` (CPU and GPU) and `png` must
hardly change a score. `jpeg` (quality 95) and `half` (half the size) show how much a score depends on invisible
changes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Frame, Pixels
from convergebench.measuring.batches import is_given
from convergebench.metrics import is_own, load_for_parent, load_metric
from convergebench.metrics.base import Item
from convergebench.metrics.place import PROCESSOR, Place, choose, place
from convergebench.store.images import open_images
from convergebench.store.queries.measuring import last_images, source_images
from convergebench.store.records import Records

CHECKS = ("twice", "process", "threads", "device", "png", "jpeg", "half")
OK, GONE, NOWHERE = "ok", "no value", "no other device"
"""The status of a row: both values are there, one is missing, there is no second device."""
JPEG_QUALITY = 95
_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Values = Mapping[str, Mapping[str, float | str]]
"""Metric → case → value, or why there is none."""


class Sample(NamedTuple):
    """A picture to be scored, and its name in the table."""

    name: str
    file: Path
    """Inside the run directory if it belongs to a run."""
    run: Path | None = None


class Repeat(NamedTuple):
    """Two scores of one picture by one metric."""

    metric: str
    check: str
    picture: str
    first: float | None
    second: float | None
    status: str


def samples_of(runs: Mapping[str, Path], count: int) -> list[Sample]:
    """Up to `count` pictures of these runs: sources and last steps in turn, spread over images, editors and runs."""
    untouched: dict[tuple[Path, str], Sample] = {}
    last: dict[tuple[Path, str], Sample] = {}
    for run, root in runs.items():
        with closing(Records(root / "run.sqlite")) as records:
            for source, image in source_images(records).items():
                sample = Sample(f"{run}: {source}, untouched", Path(image.file), root)
                untouched.setdefault((root, image.file), sample)
            for made, file in last_images(records):
                name = f"{run}: {made.editor}, {made.case}, step {made.position}"
                last.setdefault((root, file), Sample(name, Path(file), root))
    after = [sample for key, sample in last.items() if key not in untouched]
    halves = _spread(list(untouched.values()), count - count // 2), _spread(after, count // 2)
    return [sample for pair in zip_longest(*halves) for sample in pair if sample is not None]


def _spread(found: Sequence[Sample], count: int) -> list[Sample]:
    """Up to `count` of them, evenly spaced."""
    taken = min(count, len(found))
    return [found[index * len(found) // taken] for index in range(taken)]


def versions(pixels: Pixels) -> dict[str, Pixels]:
    """Case → the picture: unchanged, and after each conversion."""
    return {
        "first": pixels,
        "twice": pixels,
        "png": decode(encode_png(pixels)).pixels,
        "jpeg": _through_jpeg(pixels),
        "half": halved(pixels),
    }


def _through_jpeg(pixels: Pixels) -> Pixels:
    options = [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
    done, data = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), options)
    if not done:
        raise ValueError(f"cannot encode pixels of shape {pixels.shape}")
    return decode(data.tobytes()).pixels


def halved(pixels: Pixels) -> Pixels:
    """Half as wide and half as high."""
    height, width = pixels.shape[:2]
    small = cv2.resize(pixels, (max(1, width // 2), max(1, height // 2)), interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8)


def score_cases(names: Sequence[str], cases: Mapping[str, Callable[[], Item]]) -> dict[str, dict[str, float | str]]:
    """All cases of all metrics in this process; each case gives new frames, so nothing is cached."""
    found: dict[str, dict[str, float | str]] = {}
    for name in names:
        metric = load_for_parent(name) if is_own(name) else load_metric(name)
        readings = {case: metric.measure([make()])[0] for case, make in cases.items()}
        found[name] = {
            case: one.status if one.value is None or not np.isfinite(one.value) else one.value
            for case, one in readings.items()
        }
    return found


def limit_threads(threads: int, names: Sequence[str]) -> None:
    """Set the number of threads of the libraries that these metrics use."""
    cv2.setNumThreads(threads)
    if find_spec("torch") and any(load_for_parent(name).facts.network for name in names):
        import torch

        torch.set_num_threads(threads)


def run_module(module: str, words: Sequence[str], *, threads: int, job: object = None) -> object:
    """Run a module in a new process with `job` as JSON on stdin; returns its last line of output, parsed."""
    environment = {**os.environ, **dict.fromkeys(_VARIABLES, str(threads))}
    command = [sys.executable, "-m", module, *words]
    given = json.dumps(job)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        errors = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        raise StudyError(f"the check in another process failed: {errors[-1].removeprefix('error: ')}")
    return json.loads(done.stdout.splitlines()[-1])


def repeats(samples: Sequence[Sample], names: Sequence[str], where: Place = PROCESSOR) -> list[Repeat]:
    """Every check of every picture by every metric (of pixels)."""
    names = [name for name in names if not is_given(load_metric(name))]  # other processes cannot find these
    if not samples or not names:
        return []
    cases = ("first", "twice", "png", "jpeg", "half")
    networks = [name for name in names if load_metric(name).facts.network]
    other = _other(where) if networks else None
    base = _scores(samples, names, cases, where)
    again = _scores(samples, names, ("first",), where)
    threads = _scores(samples, names, ("first",), where, threads=2)
    moved = _scores(samples, networks, ("first",), other) if other is not None else [{} for _ in samples]
    rows = []
    for index, sample in enumerate(samples):
        for name in names:
            own = base[index][name]
            seconds: dict[str, float | str | None] = {
                "twice": own["twice"],
                "process": again[index][name]["first"],
                "threads": threads[index][name]["first"],
                "device": moved[index][name]["first"] if name in moved[index] else None,
                **{case: own[case] for case in ("png", "jpeg", "half")},
            }
            rows += [_row(name, check, sample.name, own["first"], seconds[check]) for check in CHECKS]
    return rows


def _row(metric: str, check: str, picture: str, first: float | str, second: float | str | None) -> Repeat:
    one, two = (None if isinstance(value, str) else value for value in (first, second))
    status = NOWHERE if second is None else OK if one is not None and two is not None else GONE
    return Repeat(metric, check, picture, one, two, status)


def _other(where: Place) -> Place | None:
    """The CPU for a GPU and vice versa; None if there is only the CPU."""
    if where.device != "cpu":
        return where._replace(device="cpu")
    found = choose("auto", where.precision)
    return found if found.device != "cpu" else None


def _scores(
    samples: Sequence[Sample], names: Sequence[str], cases: Sequence[str], where: Place, *, threads: int = 1
) -> list[Values]:
    job = {
        "files": [[str(sample.run or ""), str(sample.file)] for sample in samples],
        "metrics": list(names),
        "cases": list(cases),
        "place": list(where),
        "threads": threads,
    }
    answer = run_module("convergebench.measuring.repeatability", (), threads=threads, job=job)
    assert isinstance(answer, list)
    return answer


def _case(pixels: Pixels) -> Callable[[], Item]:
    return lambda: Item(Frame(pixels))


def main() -> None:
    """The new process: a job on stdin, values on stdout."""
    job = json.loads(sys.stdin.read())
    limit_threads(job["threads"], job["metrics"])
    found = []
    try:
        with place(Place(*job["place"])):
            for run, file in job["files"]:
                data = open_images(Path(run)).read(file) if run else Path(file).read_bytes()
                made = versions(decode(data, what=file, alpha="white").pixels)
                found.append(score_cases(job["metrics"], {case: _case(made[case]) for case in job["cases"]}))
    except (ConvergeBenchError, OSError) as error:
        sys.exit(f"error: {error}")
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
