"""How fast the factory's pipeline itself is, and what survives a kill: python -m benchmarks.factory [--images 2000]

Editors and roles answer at once, so what is timed is the pipeline: replay, journal, files. Printed: rows per second,
processor time beside that of encoding and writing the same pictures alone (the peer), and memory in the first and the
last quarter of the run.

Then the same work with five calls in a hundred failing and the process killed again and again: nothing may be lost or
doubled. Every decision must equal that of an undisturbed run, and no more may be billed than is on record.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.factory_world import Books, InstantEditor, ScriptedRole, prepared_factory
from benchmarks.marks import put_into
from benchmarks.thousand import Memory
from convergebench.conductor import run_chains
from convergebench.conductor.begin import begin
from convergebench.engine.retry import RetryPolicy
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.store.frames import RunFrames
from convergebench.store.run import Run

FAULTS = 0.05
KILLED_AFTER = (40, 140)
"""Calls after which a process is killed: one number of these, drawn anew for each process."""
SOON = RetryPolicy(first_wait=0.01, longest_wait=0.05)


def walk(root: Path, images: int, *, faults: float = 0.0, books: Path | None = None, slow: float = 0.0) -> None:
    """Run the factory into `root`; the same call goes on."""
    log = Books(books) if books else None
    editor = InstantEditor(dollars=1.0, faults=faults, books=log, seconds=slow)
    names = ("detector", "writer", "rewriter", "judge", "inspector")
    roles = {name: ScriptedRole(name, dollars=0.01, faults=faults, books=log) for name in names}
    prepared = prepared_factory(images, editor, roles, sessions=0.3, per_image=1)
    with Run.create(root) as run:
        begin(run, prepared)
        run_chains(run, prepared.editors, prepared.chains, roles=prepared.roles, retry=SOON)


def throughput(images: int) -> dict[str, float]:
    """Rows and attempts per second, memory, and the peer: the same pictures encoded and written, nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "run"
        begun, cpu = time.perf_counter(), _cpu()
        with Memory() as memory:
            walk(root, images)
        wall, cpu = time.perf_counter() - begun, _cpu() - cpu
        frames = RunFrames(root)
        decisions, attempts, answers = frames.decisions().height, frames.steps(), frames.answers().height
        frames.close()
        made = attempts.filter(attempts["index"] > 0)
        peer = _peer(Path(folder) / "plain", [root / file for file in made["image"]])
        rows = decisions + made.height + answers
        return {
            "images": images,
            "attempts": made.height,
            "rows": rows,
            "rows_per_second": rows / wall,
            "attempts_per_second": made.height / wall,
            "processor_times_peer": cpu / peer,
            "memory_first_quarter_mb": memory.quarter(0),
            "memory_last_quarter_mb": memory.quarter(3),
        }


def _peer(folder: Path, files: list[Path]) -> float:
    """Processor seconds of decoding, encoding and durably writing these pictures one after the other."""
    folder.mkdir()
    cpu = _cpu()
    for number, file in enumerate(files):
        with (folder / f"{number}.png").open("wb") as out:
            out.write(encode_png(decode(file.read_bytes()).pixels))
            out.flush()
            os.fsync(out.fileno())
    return _cpu() - cpu


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def survival(images: int, seed: int = 0) -> dict[str, Any]:
    """Kill the process again and again until the run is finished; what differs from an undisturbed one."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        calm, torn, books = Path(folder) / "calm", Path(folder) / "torn", Path(folder) / "books"
        walk(calm, images, faults=FAULTS)
        kills = 0
        while True:
            worker = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "benchmarks.factory",
                    f"--walk={torn}",
                    f"--books={books}",
                    f"--images={images}",
                ],
                stdout=subprocess.DEVNULL,
            )
            if _killed(worker, books, draw):
                kills += 1
                continue
            if worker.returncode != 0:
                raise SystemExit(f"the worker ended with {worker.returncode}")
            break
        billed = Books.read(books)
        return {"kills": kills, **compared(calm, torn), **_money(torn, billed)}


def _killed(worker: subprocess.Popen[bytes], books: Path, draw: random.Random) -> bool:
    """Kill the worker somewhere after a few dozen of its calls; False if it was done before."""
    # by calls and not by the clock: a slow machine would be killed while it still imports, again and again
    enough = _calls(books) + draw.randint(*KILLED_AFTER)
    while worker.poll() is None:
        if _calls(books) >= enough:
            time.sleep(0.2 * draw.random())
            worker.send_signal(signal.SIGKILL)
            return worker.wait() != 0
        time.sleep(0.02)
    return False


def _calls(books: Path) -> int:
    return books.read_bytes().count(b"\n") if books.exists() else 0


def compared(calm: Path, torn: Path) -> dict[str, Any]:
    """Decisions that one run has and the other has not."""
    found = []
    for root in (calm, torn):
        frames = RunFrames(root)
        found.append(set(frames.decisions().select("editor", "case", "number", "facts").rows()))
        frames.close()
    return {"decisions": len(found[0]), "lost": len(found[0] - found[1]), "added": len(found[1] - found[0])}


def _money(root: Path, billed: dict[str, float]) -> dict[str, float]:
    frames = RunFrames(root)
    spending = frames.spending()
    frames.close()
    return {"billed": sum(billed.values()), "journalled": float(spending["dollars"].sum())}


def main() -> None:
    """Print, or walk as a worker."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--into", type=Path, help="a page to put the figures into")
    parser.add_argument("--walk", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--books", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.walk:
        walk(given.walk, given.images, faults=FAULTS, books=given.books, slow=0.2)
        return
    found = {"throughput": throughput(given.images), "survival": survival(min(given.images, 150))}
    if given.json:
        print(json.dumps(found, indent=1))
        return
    text = told(found["throughput"], found["survival"])
    if given.into:
        put_into(given.into, "factory-pipeline", text)
    print(text)


def told(fast: dict[str, float], safe: dict[str, Any]) -> str:
    """In words."""
    counts = f"{fast['images']:,} images, {fast['attempts']:,} attempts, {fast['rows']:,} rows in the journal"
    times = (
        f"{fast['processor_times_peer']:.1f} times that of decoding, encoding and writing the same small pictures alone"
    )
    memory = [f"{fast[f'memory_{quarter}_quarter_mb']:,.0f} MB" for quarter in ("first", "last")]
    money = f"${safe['billed']:,.2f} billed, ${safe['journalled']:,.2f} on record"
    return (
        f"- {counts}; {fast['rows_per_second']:,.0f} rows per second here. The processor time is {times}.\n"
        f"- Memory: {memory[0]} in the first quarter of the run, {memory[1]} in the last.\n"
        f"- With {FAULTS:.0%} of calls failing and the process killed {safe['kills']} times: "
        f"{safe['decisions']:,} decisions, {safe['lost']} lost, {safe['added']} added; {money}."
    )


if __name__ == "__main__":
    main()
