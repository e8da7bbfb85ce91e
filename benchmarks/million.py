"""A million chains over a thousand workers: python -m benchmarks.million [--chains 1000000] [--workers 1000]

The engine's own scheduler runs on a virtual clock against an editor whose times and failures are published figures
(`million.toml`). First with the real store, at scales that fit; then with a store that keeps nothing, at scales up to
the one asked for. What the store would cost there is the line through the smaller scales, checked at the largest real
one. Each scale runs in a process of its own, whose memory is the driver's.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from benchmarks.million_world import (
    CALLS,
    EDITOR,
    SOURCE,
    SOURCE_ROW,
    WORLD,
    KeepsNothing,
    PublishedEditor,
    Scoring,
    chains,
)
from benchmarks.virtual_time import run_virtually
from convergebench.engine.plan import Chain
from convergebench.engine.run import Engine
from convergebench.store.run import Run
from convergebench.store.tables import CaseRow

REAL = (1_000, 3_000, 10_000)
"""Scales with the real store; the last one checks the line through the others."""


def simulated(count: int, workers: int, **world: Any) -> dict[str, Any]:
    """The scheduler alone."""
    before = _memory()
    planned = chains(count)
    plan = _memory() - before
    nothing = KeepsNothing()
    run = cast(Run, SimpleNamespace(journal=nothing, images=nothing))
    found = _walked(run, planned, workers, **world)
    return {**found, "rows": nothing.rows, "plan_mib": plan}


def opened(count: int) -> dict[str, Any]:
    """What the driver holds before the first call: every chain is opened, and none is walked."""
    before, begun = _memory(), time.process_time()
    planned = chains(count)
    plan, nothing = _memory() - before, KeepsNothing()
    run = cast(Run, SimpleNamespace(journal=nothing, images=nothing))
    engine = Engine(run, {EDITOR: PublishedEditor(1)})

    async def skip(chain: Chain) -> None: ...

    engine._walk = skip  # type: ignore[method-assign]
    run_virtually(engine.run(planned))
    return {"chains": count, "plan_mib": plan, "memory_mib": _memory(), "cpu_s": time.process_time() - begun}


def real(count: int, workers: int, folder: Path) -> dict[str, Any]:
    """The scheduler with journal and images on a disk; every row is synced."""
    with Run.create(folder / "run") as run:
        run.images.put(SOURCE, "image/png")
        planned = chains(count)
        cases = [CaseRow(one.case.id, "source", SOURCE_ROW.id, "scene", "plus", "test", 0) for one in planned]
        run.journal.commit_now([SOURCE_ROW, *cases])
        found = _walked(run, planned, workers)
        commits = run.journal.commits
    size = sum(path.stat().st_size for path in (folder / "run").glob("run.sqlite*"))
    return {**found, "journal_bytes": size, "commits": commits}


def _walked(run: Run, planned: list[Chain], workers: int, **world: Any) -> dict[str, Any]:
    editor, scoring = PublishedEditor(workers, **world), Scoring()
    editor.answered = scoring.add
    engine = Engine(run, {EDITOR: editor})
    slots = engine._edit_callers[EDITOR].channel._gate._slots
    editor.queue = lambda: len(slots._waiting)
    cpu, wall = time.process_time(), time.perf_counter()
    summary, seconds = run_virtually(engine.run(planned))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {
        "chains": len(planned),
        "calls": editor.calls,
        "statuses": summary.statuses,
        "stopped": summary.stopped,
        "virtual_hours": seconds / 3600,
        "ideal_hours": editor.busy_seconds / workers / 3600,
        "longest_queue": editor.longest_queue,
        "cpu_ms_per_call": 1000 * cpu / max(1, editor.calls),
        "cpu_s": cpu,
        "wall_s": wall,
        "memory_mib": _memory(),
        "scored": scoring.images,
        "scored_hours": scoring.last / 3600,
        "dollars": editor.calls * float(WORLD["price"]["dollars_per_call"]),
    }


def _memory() -> float:
    """Largest resident size of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def alone(kind: str, count: int, workers: int, *more: str) -> dict[str, Any]:
    """One scale in a new process."""
    command = [sys.executable, "-m", "benchmarks.million", "--only", kind, "--chains", str(count)]
    done = subprocess.run([*command, "--workers", str(workers), *more], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def only(kind: str, count: int, workers: int, *, busy: float | None, outage: float) -> dict[str, Any]:
    if kind == "opened":
        return opened(count)
    if kind == "real":
        with tempfile.TemporaryDirectory() as folder:
            return real(count, workers, Path(folder))
    return simulated(count, workers, busy=busy, outage=(60.0, 60.0 + outage) if outage else None)


def line(smaller: list[dict[str, Any]], figure: str, count: int) -> float:
    """Through the first and the last of the smaller scales, at this one."""
    first, last = smaller[0], smaller[-1]
    slope = (last[figure] - first[figure]) / (last["chains"] - first["chains"])
    return float(first[figure] + slope * (count - first["chains"]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.million", description=__doc__)
    parser.add_argument("--chains", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=1_000, help="calls in flight [default: 1000]")
    parser.add_argument("--only", choices=("real", "simulated", "opened"), help="one scale, as JSON")
    parser.add_argument("--busy", type=float, help="share of replies that ask to wait, instead of the file's")
    parser.add_argument("--outage", type=float, default=0.0, help="seconds in which every call fails")
    parser.add_argument("--json", type=Path, help="write the figures here")
    given = parser.parse_args()
    if given.only:
        print(json.dumps(only(given.only, given.chains, given.workers, busy=given.busy, outage=given.outage)))
        return
    scales = [10**power for power in range(3, 10) if 10**power < given.chains] + [given.chains]
    print("            chains     makespan    ideal   in queue  CPU/call  driver   journal   scored by")
    found: dict[str, Any] = {"real": [], "simulated": []}
    for count in [count for count in REAL if count <= given.chains]:
        found["real"].append(alone("real", count, given.workers))
        show("real", found["real"][-1])
    found["opened"] = alone("opened", given.chains, given.workers)
    first = found["opened"]
    print(
        f"opened    {first['chains']:9,}   {first['memory_mib']:,.0f} MiB ({first['plan_mib']:,.0f} of them the plan) "
        f"and {first['cpu_s']:.0f} s of one core before the first call",
        flush=True,
    )
    for count in scales:
        found["simulated"].append(alone("simulated", count, given.workers))
        show("simulated", found["simulated"][-1])
    if len(found["real"]) > 2:
        found["checks"] = check(found["real"])
        found["expected"] = expect(found, given.chains)
    small = min(10_000, given.chains)
    for name, more in (("1 % of replies say wait", ("--busy", "0.01")), ("2 s of outage", ("--outage", "2"))):
        found[name] = alone("simulated", small, given.workers, *more)
        show("simulated", found[name], f"   {name}: {found[name]['stopped'] or found[name]['statuses']}")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


def show(kind: str, one: dict[str, Any], more: str = "") -> None:
    journal = f"{one['journal_bytes'] / 2**20:6,.0f} MiB" if "journal_bytes" in one else "          "
    print(
        f"{kind:9} {one['chains']:9,}   {one['virtual_hours']:7.2f} h {one['ideal_hours']:7.2f} h "
        f"{one['longest_queue']:9,}  {one['cpu_ms_per_call']:5.2f} ms {one['memory_mib']:5,.0f} MiB {journal} "
        f"{one['scored_hours']:6.2f} h{more}",
        flush=True,
    )


def check(real_scales: list[dict[str, Any]]) -> dict[str, float]:
    """How far off the line through the smaller scales was at the largest."""
    *smaller, largest = real_scales
    off = {}
    for figure in ("journal_bytes", "cpu_s", "memory_mib"):
        expected = line(smaller, figure, largest["chains"])
        off[figure] = largest[figure] / expected - 1
        print(f"check     {figure} at {largest['chains']:,} chains is {100 * off[figure]:+.0f} % off the line")
    return off


def expect(found: dict[str, Any], count: int) -> dict[str, float]:
    """What the store adds at the scale asked for, by the line through the real scales."""
    largest = found["simulated"][-1]
    expected = {figure: line(found["real"], figure, count) for figure in ("journal_bytes", "cpu_s")}
    hours = expected["cpu_s"] / 3600
    print(
        f"expected  {count:,} chains with the real store: journal {expected['journal_bytes'] / 2**30:.1f} GiB, "
        f"{hours:.2f} h of one core in a makespan of {largest['virtual_hours']:.2f} h "
        f"({100 * hours / largest['virtual_hours']:.0f} % busy), ${largest['dollars']:,.0f}"
    )
    busiest = 3.6e6 / (1000 * expected["cpu_s"] / (CALLS * count)) / 3600 * float(WORLD["latency"]["median_seconds"])
    print(f"          one driver keeps up with {math.floor(busiest):,} calls in flight of these times")
    return {**expected, "cpu_hours": hours, "most_in_flight": busiest}


if __name__ == "__main__":
    main()
