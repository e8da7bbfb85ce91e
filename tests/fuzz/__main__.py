"""Fuzz readers for a while: `python -m tests.fuzz [TARGET …] [--seconds N]`; `--all` for every target.

Each target runs in a process of its own, guided by coverage (atheris, on Linux). The seconds are shared equally. An
input that breaks a reader is kept, its file is printed, and the command ends with 1.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.table import all_names, find

GRACE = 600.0
"""Seconds that a process gets to make its seeds and to end."""


class FuzzResult(NamedTuple):
    """How one target fared."""

    name: str
    inputs: int
    fault: str
    """One line; empty if nothing broke."""
    file: Path | None


def run_one(module: str, name: str, seconds: int, folder: Path) -> FuzzResult:
    """Fuzz one target in a process of its own."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-m", "tests.fuzz.guided", module, name, str(seconds), str(place)]
    try:
        done = subprocess.run(words, capture_output=True, timeout=seconds + GRACE, check=False)
        text, ended = done.stderr.decode("utf-8", "replace") + done.stdout.decode("utf-8", "replace"), done.returncode
    except subprocess.TimeoutExpired as error:
        text, ended = (error.stderr or b"").decode("utf-8", "replace"), 124  # too slow to begin, or hanging
    counts = re.findall(r"number_of_executed_units: (\d+)", text) or re.findall(r"^#(\d+)\s", text, re.MULTILINE)
    inputs = int(counts[-1]) if counts else 0
    if ended == 0 and counts:
        return FuzzResult(name, inputs, "", None)
    told = re.findall(r"^(?:tests\.fuzz\.target\.)?ReaderFault: (.*)$", text, re.MULTILINE)
    told = told or re.findall(r"^(?:==\d+== )?(?:ERROR|Fatal Python error|SUMMARY|\w+Error): (.*)$", text, re.MULTILINE)
    file = next(iter(sorted(place.glob("fault-*"))), None)
    return FuzzResult(name, inputs, (told[0] if told else f"the process ended with {ended}")[:200], file)


def main(words: list[str] | None = None) -> int:
    """Fuzz what the command names."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", nargs="*", help="names of targets; see --list")
    parser.add_argument("--all", action="store_true", help="every target")
    parser.add_argument("--list", action="store_true", help="print the names of all targets")
    parser.add_argument("--seconds", type=int, default=60, help="for all of them together (at least 2 for each)")
    parser.add_argument("--keep", type=Path, help="folder for corpora and faults; a temporary one by default")
    given = parser.parse_args(words)
    if given.list:
        print("\n".join(name for _, name in all_names()))
        return 0
    try:
        chosen = list(all_names()) if given.all else [(find(name)[0], name) for name in given.target]
    except KeyError as error:
        parser.error(f"there is no target {error}; see --list")
    if not chosen:
        parser.error("name a target, or give --all")
    folder = given.keep or Path(tempfile.mkdtemp(prefix="convergebench-fuzz-"))
    each = max(2, given.seconds // len(chosen))
    faults = 0
    for module, name in chosen:
        found = run_one(module, name, each, folder.absolute())
        faults += bool(found.fault)
        line = f"{name:24} {found.inputs:>9,} inputs  "
        print(line + (f"FAULT {found.fault} ({found.file})" if found.fault else "ok"), flush=True)
    print(f"{len(chosen)} targets, {faults} with a fault; corpora and faults: {folder}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
