"""Thousands of seeds through the simulation: python -m tests.gauntlet [--seeds 5000] [--minutes 20] [--seed N]

Each seed is a small study that is disturbed by faults of disk, network, clock and process, then finished in peace and
held against an undisturbed run. A seed that fails prints the line that repeats it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.gauntlet.seeds import outcomes
from tests.gauntlet.world import run_seed


def repeat(seed: int) -> int:
    """One seed, twice, with everything that is known about it."""
    try:
        first, second = run_seed(seed), run_seed(seed)
    except BaseException:
        traceback.print_exc()
        return 1
    print(f"seed {seed}: {first.sessions} sessions, {first.calls} calls, history {first.history[:16]}")
    for fault, count in sorted(first.met.items()):
        print(f"  {count} × {fault}")
    if first.history != second.history:
        print(f"seed {seed} has two histories: something random is not simulated")
    return int(first.history != second.history)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gauntlet", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5000, help="how many [default: 5000]")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--minutes", type=float, default=20.0, help="stop after this time [default: 20]")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes [default: all cores]")
    parser.add_argument("--seed", type=int, help="repeat this one seed, with its traceback")
    parser.add_argument("--json", type=Path, help="write the figures here")
    given = parser.parse_args()
    if given.seed is not None:
        return repeat(given.seed)
    begun = time.monotonic()
    done, sessions, calls, met = 0, 0, 0, Counter[str]()
    failures: list[str] = []
    until = begun + 60 * given.minutes
    for seed, outcome, wrong in outcomes(given.first, given.seeds, until=until, workers=given.workers):
        done += 1
        if outcome is None:
            failures.append(f"python -m tests.gauntlet --seed {seed}")
            print(f"{failures[-1]}   # {wrong[:300]}", flush=True)
        else:
            sessions, calls = sessions + outcome.sessions, calls + outcome.calls
            met.update(outcome.met)
    seconds = time.monotonic() - begun
    print(
        f"{done:,} seeds, {sessions:,} sessions, {calls:,} calls, {sum(met.values()):,} faults met in {seconds:.0f} s"
    )
    for fault, count in sorted(met.items(), key=lambda one: (-one[1], one[0])):
        print(f"  {count:6,} × {fault}")
    print(f"{len(failures)} seeds failed" if failures else "every invariant held")
    if given.json:
        figures = {"seeds": done, "sessions": sessions, "calls": calls, "seconds": seconds, "met": met}
        given.json.write_text(json.dumps({**figures, "failures": failures}, indent=1))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
