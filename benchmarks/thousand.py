"""A thousand images of 1024² through a whole set of metrics: python -m benchmarks.thousand [--images 1000] [--json]

Ten photographs are edited fifty rounds each (two images a round) by a simulated editor; then the set is measured by all
cores. Printed: wall time, processor time, and the memory of all processes in the first and the last quarter, which must
not grow. Beside it, on the same cores: PSNR, SSIM, MS-SSIM, GMSD and CIEDE2000 alone, by the fastest library for each,
timed on a few pairs and scaled up.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from benchmarks.metrics import fastest, fastest_libraries, pictures
from convergebench.conductor import run_chains
from convergebench.conductor.begin import begin
from convergebench.conductor.prepare import prepare
from convergebench.images.encode import encode_png
from convergebench.measuring.measure import measure
from convergebench.metrics import expand
from convergebench.metrics.place import Place, choose
from convergebench.store.run import Run
from convergebench.studies.spec import parse_spec
from tests.metrics.pictures import photograph

SIDE = 1024
SOURCES = ("astronaut", "coffee", "chelsea", "rocket", "immunohistochemistry")


class Memory:
    """Samples the memory of this process and its children twice a second."""

    def __init__(self) -> None:
        self.samples: list[float] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.5):
            self.samples.append(_resident(os.getpid()) / 2**20)

    def quarter(self, number: int) -> float:
        """Largest sample of a quarter of the time, in MiB."""
        size = max(1, len(self.samples) // 4)
        return max(self.samples[number * size : (number + 1) * size] or [0.0])


def _resident(process: int) -> int:
    """Bytes of a process and all below it. Linux only; elsewhere memory reads 0."""
    total = 0
    try:
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text().split():
                total += _resident(int(child))
        total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        pass
    return total


def write_sources(folder: Path, count: int) -> None:
    """Photographs at 1024², each at another crop, so that no two are the same."""
    for number in range(count):
        picture = photograph(SOURCES[number % len(SOURCES)], 4096, 4096)
        shift = 7 * (number // len(SOURCES))
        crop = picture[shift : shift + 256, shift : shift + 256]
        large = np.asarray(cv2.resize(crop, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC), np.uint8)
        path = folder / "object" / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(large))


def thousand(root: Path, images: int, metrics: list[str], place: Place) -> dict[str, Any]:
    """Edit, then measure, and say what measuring took."""
    sources, rounds = max(1, images // 100), min(50, max(1, images // 2))
    write_sources(root / "pictures", sources)
    spec = parse_spec(
        {
            "editors": ["sim-noise"],
            "roundtrip": {"rounds": rounds},
            "images": {"suite": str(root / "pictures")},
            "edits": {"pairs": ["red-ball"]},
            "measure": {"metrics": metrics},
        }
    )
    prepared = prepare(spec)
    with Run.create(root / "run") as run:
        begin(run, prepared)
        run_chains(run, prepared.editors, prepared.chains)
        before = _processor()
        with Memory() as memory:
            begun = time.perf_counter()
            values = measure(run, prepared.metrics, align_mode="strict", place=place)
            wall = time.perf_counter() - begun
        used = _processor() - before
    count = 2 * sources * rounds
    return {
        "images": count,
        "metrics": len(prepared.metrics),
        "values": values,
        "wall_s": wall,
        "cpu_s": used,
        "cpu_s_per_image": used / count,
        "memory_first_quarter_mib": memory.quarter(0),
        "memory_last_quarter_mib": memory.quarter(3),
    }


def _processor() -> float:
    """Processor seconds of this process and of its children that have ended."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)


def peers(rounds: int) -> dict[str, Any]:
    """What five metrics of a libraries' round cost, decoding included, scaled to as many rounds."""
    best = fastest_libraries(*pictures(SIDE), repeats=2)
    packed = cv2.imencode(".png", pictures(SIDE)[0])[1]
    decode = fastest(lambda: cv2.imdecode(packed, cv2.IMREAD_COLOR), repeats=3)
    each = {name: milliseconds for name, (milliseconds, _) in best.items() if name != "ssim-skimage"}
    return {
        "metrics": sorted(each),
        "libraries": sorted({library for _, library in best.values()}),
        "cpu_s": rounds * (sum(each.values()) + decode) / 1000,
    }


def main() -> None:
    """Print the figures, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.thousand", description=__doc__)
    parser.add_argument("--images", type=int, default=1000, help="how many images (100 or more, by the hundred)")
    parser.add_argument("--metric", action="append", help="metrics or sets [default: default]")
    parser.add_argument("--device", default="cpu", help="where networks run, if any are named")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    names = expand(options.metric or ["default"])
    with tempfile.TemporaryDirectory() as folder:
        ours = thousand(Path(folder), options.images, names, choose(options.device))
    theirs = peers(ours["images"] // 2)
    if options.json:
        print(json.dumps({"ours": ours, "peers": theirs}, indent=1))
        return
    print(f"{ours['images']:,} images of {SIDE}², {ours['metrics']} metrics, {ours['values']:,} values")
    print(
        f"wall {ours['wall_s']:.0f} s, processor {ours['cpu_s']:.0f} s, "
        f"{1000 * ours['cpu_s_per_image']:.0f} ms of it an image"
    )
    first, last = ours["memory_first_quarter_mib"], ours["memory_last_quarter_mib"]
    print(f"memory of all processes {first:.0f} MiB in the first quarter, {last:.0f} MiB in the last")
    print(
        f"beside it, {', '.join(theirs['metrics'])} of every round by {', '.join(theirs['libraries'])}: "
        f"processor {theirs['cpu_s']:.0f} s ({theirs['cpu_s'] / ours['cpu_s']:.1f} times ours for {ours['metrics']})"
    )


if __name__ == "__main__":
    main()
