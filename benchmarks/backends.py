"""What does a step cost on a Ray cluster? One study by both backends, as ratios to this machine alone.

    python -m benchmarks.backends [--seconds 0 0.1 1] [--megapixels 0.25] [--repeats 5] [--json FILE]

An editor that waits and returns a slightly darker picture edits eight chains, four calls at a time, once in this
process and once in a single worker of a Ray that is started on this machine: the same calls at once, so that the
difference is Ray's. Only editing is timed. The two take turns, and the fastest of their runs count: other work on the
machine can only make a run slower.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from convergebench.backends.ray.cluster import Cluster
from convergebench.conductor.observer import Observer
from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import plan, run
from convergebench.images.encode import encode_png
from convergebench.progress import Progress
from convergebench.studies.spec import parse_spec
from convergebench.types import SourceImage

CHAINS, ROUNDS, AT_ONCE = 8, 5, 4
STEPS = CHAINS * ROUNDS * 2


def darker(image: Image.Image, instruction: str, wait: float = 0.0) -> Image.Image:
    """Waits, then takes a level away."""
    time.sleep(wait)
    return image.point(lambda level: max(0, level - 1))


class Timed(Observer):
    """When editing began and ended."""

    begun = ended = 0.0

    @contextmanager
    def watch(self, stage: str, progress: Progress, *, unit: str, of: str = "chains") -> Iterator[object]:
        """Times editing."""
        if stage == "editing":
            self.begun = time.perf_counter()
        yield None
        if stage == "editing":
            self.ended = time.perf_counter()


def sources(megapixels: float) -> list[SourceImage]:
    """Pictures of coloured squares."""
    cells = max(1, round((megapixels * 1e6) ** 0.5 / 16))
    found = []
    for number in range(CHAINS):
        drawn = np.random.default_rng(number).integers(90, 250, (16, 16, 3))
        data = encode_png(np.kron(drawn, np.ones((cells, cells, 1))).astype(np.uint8), 1)
        name, side = hashlib.sha256(data).hexdigest(), 16 * cells
        found.append(SourceImage(f"p{number}", "scene", name, side, side, "CC0", "drawn", partial(bytes, data)))
    return found


def timed(root: Path, backend: str, seconds: float, pictures: list[SourceImage]) -> float:
    """Seconds of editing."""
    entry: dict[str, Any] = {
        "name": "darker",
        "use": f"{Path(__file__).resolve()}:darker",
        "version": "1",
        "wait": seconds,
        "at_once": AT_ONCE,
        "resources": {"cpus": 1, "copies": 1},
    }
    spec = parse_spec(
        {
            "study": "roundtrip",
            "editors": [entry],
            "edits": {"pairs": ["flip-horizontal"]},
            "roundtrip": {"rounds": ROUNDS},
            "measure": {"metrics": []},
        },
        where="benchmark",
    )
    watch = Timed()
    outcome = run(plan(spec, root, sources=pictures), RunOptions(report=False, backend=backend), watch)
    assert outcome.stopped is None, outcome
    return watch.ended - watch.begun


def measured(waits: list[float], megapixels: float, repeats: int) -> list[dict[str, float]]:
    """One row for each time that a call takes."""
    rows, pictures = [], sources(megapixels)
    cluster = Cluster("local")  # the runs find it and use it
    with tempfile.TemporaryDirectory() as folder:
        timed(Path(folder) / "warm", "local", 0.0, pictures)
        for wait in waits:
            seconds: dict[str, list[float]] = {"local": [], "ray": []}
            for repeat in range(repeats):
                for backend, times in seconds.items():
                    times.append(timed(Path(folder) / f"{backend}-{wait}-{repeat}", backend, wait, pictures))
            here, there = min(seconds["local"]), min(seconds["ray"])
            rows.append(
                {
                    "call_seconds": wait,
                    "local_seconds_per_step": here / STEPS,
                    "ray_seconds_per_step": there / STEPS,
                    "ratio": there / here,
                }
            )
    cluster.close()
    return rows


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.0, 0.1, 1.0], help="of a call")
    parser.add_argument("--megapixels", type=float, default=0.25)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = measured(options.seconds, options.megapixels, options.repeats)
    for row in found:
        print(
            f"calls of {row['call_seconds']:g} s: {1000 * row['local_seconds_per_step']:.1f} ms a step here, "
            f"{1000 * row['ray_seconds_per_step']:.1f} ms by Ray ({row['ratio']:.2f} times)"
        )
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
