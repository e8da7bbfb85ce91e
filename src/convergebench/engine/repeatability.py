"""Does a metric give the same value twice? One picture scored again, elsewhere, and after a trip through a file.

`twice` (the same process), `process` (a fresh one), `threads` (two instead of one), `device` (processor and GPU) and
`png` must not move a score at all, or hardly. `jpeg` (quality 95) and `half` (half the size) are no faults: they say
how far a score hangs on things that nobody sees. Nothing that was worked out once is remembered for the second score.
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
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.metrics.place import PROCESSOR, Place, choose, place
from convergebench.store.journal import connect

CHECKS = ("twice", "process", "threads", "device", "png", "jpeg", "half")
OK, GONE, NOWHERE = "ok", "no value", "no other device"
"""What a row may say: both values are there, one is missing, there is nowhere else to run."""
JPEG_QUALITY = 95
_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_UNTOUCHED = "select c.source, i.file from cases c join images i on i.id = c.image order by c.source, c.id"
_LAST = """select p.editor, p."case", max(p.position), i.file from chain_steps p join steps s on s.id = p.step
  join images i on i.id = s.image group by p.editor, p."case" order by p.editor, p."case" """

Values = Mapping[str, Mapping[str, float | str]]
"""Metric → case → value, or why there is none."""


class Sample(NamedTuple):
    """A picture to be scored, and what it is called in the table."""

    name: str
    file: Path


class Repeat(NamedTuple):
    """Two scores of one picture by one metric."""

    metric: str
    check: str
    picture: str
    first: float | None
    second: float | None
    status: str


def samples_of(runs: Mapping[str, Path], count: int) -> list[Sample]:
    """So many pictures of these runs: untouched ones and last ones in turn, spread over images, editors and runs."""
    untouched: dict[Path, str] = {}
    last: dict[Path, str] = {}
    for run, root in runs.items():
        with closing(connect(root / "run.sqlite", read_only=True)) as connection:
            for source, file in connection.execute(_UNTOUCHED):
                untouched.setdefault(root / file, f"{run}: {source}, untouched")
            for editor, case, step, file in connection.execute(_LAST):
                last.setdefault(root / file, f"{run}: {editor}, {case}, step {step}")
    after = [Sample(name, file) for file, name in last.items() if file not in untouched]
    before = [Sample(name, file) for file, name in untouched.items()]
    halves = _spread(before, count - count // 2), _spread(after, count // 2)
    return [sample for pair in zip_longest(*halves) for sample in pair if sample is not None]


def _spread(found: Sequence[Sample], count: int) -> list[Sample]:
    """So many of them, evenly."""
    taken = min(count, len(found))
    return [found[index * len(found) // taken] for index in range(taken)]


def versions(pixels: Pixels) -> dict[str, Pixels]:
    """The picture as it is, again, and after each trip."""
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


def probe(names: Sequence[str], cases: Mapping[str, Callable[[], Item]]) -> dict[str, dict[str, float | str]]:
    """All cases of all metrics in this process; each case gives fresh frames, so nothing is remembered."""
    found: dict[str, dict[str, float | str]] = {}
    for name in names:
        metric = load_metric(name)
        readings = {case: metric.measure([make()])[0] for case, make in cases.items()}
        found[name] = {
            case: one.status if one.value is None or not np.isfinite(one.value) else one.value
            for case, one in readings.items()
        }
    return found


def limit(threads: int, names: Sequence[str]) -> None:
    """So many threads for the libraries that these metrics use."""
    cv2.setNumThreads(threads)
    if find_spec("torch") and any(load_metric(name).facts.network for name in names):
        import torch

        torch.set_num_threads(threads)


def elsewhere(module: str, words: Sequence[str], *, threads: int, job: object = None) -> object:
    """What a module says (the last line it prints, as JSON) in a process of its own."""
    environment = {**os.environ, **dict.fromkeys(_VARIABLES, str(threads))}
    command = [sys.executable, "-m", module, *words]
    given = json.dumps(job)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        raise StudyError(f"the check in another process failed: {said[-1].removeprefix('error: ')}")
    return json.loads(done.stdout.splitlines()[-1])


def repeats(samples: Sequence[Sample], names: Sequence[str], where: Place = PROCESSOR) -> list[Repeat]:
    """Every check of every picture by every metric that is worked out from pixels."""
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
    """The processor beside a GPU, a GPU beside the processor; None where there is only the one."""
    if where.device != "cpu":
        return where._replace(device="cpu")
    found = choose("auto", where.precision)
    return found if found.device != "cpu" else None


def _scores(
    samples: Sequence[Sample], names: Sequence[str], cases: Sequence[str], where: Place, *, threads: int = 1
) -> list[Values]:
    job = {
        "files": [str(sample.file) for sample in samples],
        "metrics": list(names),
        "cases": list(cases),
        "place": list(where),
        "threads": threads,
    }
    answer = elsewhere("convergebench.engine.repeatability", (), threads=threads, job=job)
    assert isinstance(answer, list)
    return answer


def _case(pixels: Pixels) -> Callable[[], Item]:
    return lambda: Item(Frame(pixels))


def main() -> None:
    """The other process: a job on stdin, values on stdout."""
    job = json.loads(sys.stdin.read())
    limit(job["threads"], job["metrics"])
    found = []
    try:
        with place(Place(*job["place"])):
            for file in job["files"]:
                made = versions(decode(Path(file).read_bytes(), what=file, alpha="white").pixels)
                found.append(probe(job["metrics"], {case: _case(made[case]) for case in job["cases"]}))
    except (ConvergeBenchError, OSError) as error:
        sys.exit(f"error: {error}")
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
