"""What the engine itself costs: scheduling against the ideal, processor time per step, opening a finished run.

    python -m benchmarks.engine [--json FILE]

A simulated API answers after ten seconds at 64 calls in flight. Time is virtual (see `virtual_time`), disk and
database are real: every image is synced and every step committed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.virtual_time import run_virtually
from convergebench.engine.plan import Chain
from convergebench.engine.run import Engine
from convergebench.ids import image_id
from convergebench.images.encode import encode_png
from convergebench.progress import Progress
from convergebench.store.run import Run
from convergebench.store.tables import CaseRow, ImageRow
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import Capabilities, Case, Edited, EditPair, EditRequest, Limits, State

PAIR = EditPair("plus", "test", "preserving", ("scene",), "add", "remove", "add", "remove")
SECONDS, AT_ONCE = 10.0, 64


class SlowApi:
    """Answers after ten (virtual) seconds with a small image that is new at every step."""

    name, fingerprint = "slow-api", "slow-api@1"
    capabilities = Capabilities(dollars_per_call=0.04, seconds_per_call=SECONDS, simulated=True)
    limits = Limits(at_once=AT_ONCE)

    async def edit(self, request: EditRequest) -> Edited:
        await asyncio.sleep(SECONDS)
        return Edited(picture(request.seed), "image/png", self.name, dollars=0.04)


def picture(seed: int) -> bytes:
    return encode_png(np.random.default_rng(seed).integers(0, 256, (8, 8, 3), np.uint8))


def chains(run: Run, count: int, rounds: int) -> list[Chain]:
    """So many cases of one source, written where a study would write them."""
    data = picture(0)
    identity = run.images.put(data, "image/png")
    file = run.images.file_of(identity, "image/png")
    assert identity == image_id(data)
    state = State(identity, identity)
    cases = [Case(f"source/plus/{index}", state, "source", "scene", (PAIR,), index) for index in range(count)]
    run.journal.commit_now([ImageRow(identity, file, "image/png", 8, 8, len(data))])
    run.journal.commit_now(
        [CaseRow(case.id, "source", identity, "scene", "plus", "test", case.replicate) for case in cases]
    )
    return [Chain("slow-api", case, RoundTrip(rounds), rounds) for case in cases]


def makespan(root: Path, count: int, rounds: int) -> dict[str, Any]:
    """Virtual hours beside the ideal, and real processor time per step."""
    steps = count * rounds * 2
    with Run.create(root) as run:
        planned = chains(run, count, rounds)
        engine = Engine(run, {"slow-api": SlowApi()}, progress=Progress())
        before, wall = time.process_time(), time.perf_counter()
        summary, virtual = run_virtually(engine.run(planned))
        used, wall = time.process_time() - before, time.perf_counter() - wall
    assert summary.statuses == {"finished": count}, summary
    ideal = math.ceil(steps / AT_ONCE) * SECONDS
    return {
        "chains": count,
        "steps": steps,
        "virtual_seconds": round(virtual, 1),
        "ideal_seconds": ideal,
        "over_ideal_percent": round(100 * (virtual / ideal - 1), 2),
        "cpu_ms_per_step": round(1000 * used / steps, 3),
        "wall_ms_per_step": round(1000 * wall / steps, 3),
    }


RESUME = """
import sys, time; begun = time.perf_counter()
from pathlib import Path
from benchmarks.engine import SlowApi, chains
from convergebench.conductor import run_chains
from convergebench.store.run import Run
with Run.create(Path(sys.argv[1])) as run:
    summary = run_chains(run, {"slow-api": SlowApi()}, chains(run, int(sys.argv[2]), int(sys.argv[3])))
assert summary.statuses == {"finished": int(sys.argv[2])}, summary
print(time.perf_counter() - begun)
"""


def resume(root: Path, count: int, rounds: int) -> dict[str, Any]:
    """Open and walk a finished run again in a new process, imports included."""
    begun = time.perf_counter()
    command = [sys.executable, "-c", RESUME, str(root), str(count), str(rounds)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return {"steps": count * rounds * 2, "seconds": round(time.perf_counter() - begun, 2)}


def memory(root: Path) -> dict[str, Any]:
    """Peak of the Python heap for a short and a ten times longer chain."""
    peaks = {}
    for rounds in (50, 500):
        with Run.create(root / str(rounds)) as run:
            planned = chains(run, 4, rounds)
            tracemalloc.start()
            run_virtually(Engine(run, {"slow-api": SlowApi()}).run(planned))
            peaks[rounds] = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    return {
        "peak_kib_100_steps": peaks[50] // 1024,
        "peak_kib_1000_steps": peaks[500] // 1024,
        "ratio": round(peaks[500] / peaks[50], 2),
        "process_peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--small", action="store_true", help="a tenth of the size, for tests")
    given = parser.parse_args()
    scale = 10 if given.small else 1
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        results = {
            "schedule": makespan(root / "schedule", 500 // scale, 10),
            "finished": makespan(root / "finished", 280 // scale, 50),
        }
        results["resume"] = resume(root / "finished", 280 // scale, 50)
        results["memory"] = memory(root / "memory")
    schedule, resumed, peak = results["schedule"], results["resume"], results["memory"]
    print(f"schedule  {schedule['chains']} chains × 20 steps of {SECONDS:g} s, {AT_ONCE} in flight: "
          f"{schedule['virtual_seconds']:,} s, ideal {schedule['ideal_seconds']:,} s "
          f"({schedule['over_ideal_percent']:+} %)")  # fmt: skip
    print(f"overhead  {schedule['cpu_ms_per_step']} ms of processor time per step "
          f"({schedule['wall_ms_per_step']} ms wall, synced to disk)")  # fmt: skip
    print(f"resume    {resumed['steps']:,} finished steps opened and walked in {resumed['seconds']} s")
    print(f"memory    {peak['peak_kib_100_steps']:,} KiB for 100-step chains, "
          f"{peak['peak_kib_1000_steps']:,} KiB for 1,000 steps (× {peak['ratio']})")  # fmt: skip
    if given.json:
        given.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
