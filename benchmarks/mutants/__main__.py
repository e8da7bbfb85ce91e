"""`python -m benchmarks.mutants`: killed and total by room; 1 at the end if a room is below its goal."""

from __future__ import annotations

import argparse
import random
import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from benchmarks.mutants import __doc__ as explained
from benchmarks.mutants.covering import ROOMS, far, files, near
from benchmarks.mutants.mutate import Mutant, mutants
from benchmarks.mutants.trial import FAILED, NO_TESTS, PASSED, Copy

ROOT = Path(__file__).resolve().parents[2]
GOAL = 0.9
_LONGEST = 240.0
_FAILED = re.compile(r"^(?:FAILED|ERROR) ([^ ]+)", re.MULTILINE)


@dataclass
class Tests:
    """The tests near a file that pass as it is, those that do not, and how long they may take."""

    words: list[str]
    seconds: float
    broken: list[str] = field(default_factory=list)


class Trials:
    """Faults against tests, in copies that are handed around."""

    def __init__(self, root: Path, processes: int) -> None:
        self._root = root
        self._copies: SimpleQueue[Copy] = SimpleQueue()
        self._all = [Copy(root) for _ in range(processes)]
        for copy in self._all:
            self._copies.put(copy)
        self._passing: dict[tuple[str, ...], Tests] = {}

    def close(self) -> None:
        for copy in self._all:
            copy.close()

    def killed(self, room: str, mutant: Mutant) -> bool:
        """Whether a test fails with this fault: first of those near the file, then of the rest of the room."""
        copy = self._copies.get()
        try:
            return self._killed(copy, room, mutant)
        finally:
            self._copies.put(copy)

    def _killed(self, copy: Copy, room: str, mutant: Mutant) -> bool:
        path = copy.root / mutant.file
        text = path.read_text(encoding="utf-8")
        first = near(copy.root, room, mutant.file)
        for group in (first, far(copy.root, room, first)):
            tests = self._that_pass(copy, group)
            if not tests.words:
                continue
            path.write_text(mutant.applied(text), encoding="utf-8")
            try:
                code, _, _ = copy.tested(tests.words, tests.seconds)
            finally:
                path.write_text(text, encoding="utf-8")
            if code not in (PASSED, NO_TESTS):
                return True
        return False

    def _that_pass(self, copy: Copy, group: Sequence[str]) -> Tests:
        """These tests without those that fail already; asked once for each group."""
        key = tuple(group)
        if key not in self._passing:
            broken: list[str] = []
            words, taken, code = list(group), 0.0, FAILED if group else PASSED
            while code not in (PASSED, NO_TESTS) and len(broken) < 20:
                code, taken, said = copy.tested(words, _LONGEST)
                found = _FAILED.findall(said)
                if code not in (PASSED, NO_TESTS) and not found:
                    raise SystemExit(f"cannot run {' '.join(group)} (code {code}, {taken:.0f} s):\n{said}")
                broken += found
                words = [*group, *(f"--deselect={name}" for name in broken), *(f"--ignore={n}" for n in broken)]
            self._passing[key] = Tests(words, max(20.0, 4 * taken), broken)
        return self._passing[key]

    @property
    def broken(self) -> list[str]:
        """Tests that fail without any fault of ours, and so say nothing."""
        return sorted({name for tests in self._passing.values() for name in tests.broken})


def sample(room: str, count: int, seed: int, equivalent: Iterable[tuple[str, str, str]] = ()) -> list[Mutant]:
    """Some faults of a room, the same for the same seed; those that change nothing are left out."""
    known = set(equivalent)
    every = [
        one
        for file in files(ROOT, room)
        for one in mutants(file, (ROOT / file).read_text(encoding="utf-8"))
        if one.key not in known
    ]
    return sorted(random.Random(f"{seed} {room}").sample(every, min(count, len(every))))


def equivalents() -> list[tuple[str, str, str]]:
    """Faults that no test can see, with the reason beside each in the file."""
    listed = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text(encoding="utf-8"))
    return [(one["file"], one["line"], one["after"]) for one in listed.get("mutant", ())]


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mutants", description=explained, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--room", action="append", choices=ROOMS, help="only this one; repeat for more")
    parser.add_argument("--count", type=int, default=20, help="at most so many faults of a room")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--processes", type=int, default=2, choices=(1, 2))
    given = parser.parse_args(words)
    trials = Trials(ROOT, given.processes)
    try:
        low = [
            room for room in given.room or ROOMS if not _room(trials, room, given.count, given.seed, given.processes)
        ]
    finally:
        trials.close()
    for name in trials.broken:
        print(f"fails without any fault, so it was left out: {name}")
    sys.exit(f"below {GOAL:.0%}: {', '.join(low)}" if low else 0)


def _room(trials: Trials, room: str, count: int, seed: int, processes: int) -> bool:
    """Try a sample of this room and print it; whether enough was killed."""
    chosen = sample(room, count, seed, equivalents())
    killed = []
    with ThreadPoolExecutor(processes) as pool:
        for mutant, dead in zip(chosen, pool.map(lambda mutant: trials.killed(room, mutant), chosen), strict=True):
            killed.append(dead)
            if not dead:
                print(f"  survived  {mutant}", flush=True)
    print(f"{room:<10} {sum(killed)}/{len(killed)} killed", flush=True)
    return sum(killed) >= GOAL * len(killed)


if __name__ == "__main__":
    main()
