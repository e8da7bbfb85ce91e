"""How often each failure detector is wrong, on chains whose truth is known.

python -m benchmarks.failures [--limit N] [--seed S] [--module noise] [--detector NAME …] [--half test|development|all]
                              [--json FILE]

Chains come from every module of `benchmarks/planted`. Thresholds were chosen on the development half of the pictures;
the table is about the other half unless `--half` says otherwise. A miss is a planted failure that is not found
anywhere in its chain; a false alarm is a finding in a chain that has no such failure (chains of other failures among
them; chains that cannot but show it too are left out). Chains of which a detector says that it cannot tell are
counted apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Literal

from benchmarks.planted import Planted, modules
from benchmarks.planted._pictures import HALVES
from convergebench.analysis.failures import wilson
from convergebench.failures import expand_detectors, load_detector
from convergebench.failures.base import Detector

Said = Literal["found", "nothing", "cannot tell", "does not apply"]


@dataclass(frozen=True)
class Verdict:
    """What one detector said of one chain."""

    module: str
    detector: str
    chain: str
    mode: str
    truth: int | None
    strength: str
    half: str
    counts: bool
    """Whether it is right or wrong at all; not where the planted failure brings this one with it."""
    said: Said
    step: int | None
    confidence: float | None
    detail: str
    seconds: float

    @property
    def positive(self) -> bool:
        """Whether this failure was planted here."""
        return self.mode == self.detector and self.truth is not None

    @property
    def decided(self) -> bool:
        """Whether the detector said yes or no."""
        return self.said in ("found", "nothing")


def examined(chain: Planted, module: str, detector: Detector) -> Verdict:
    """Run one detector over one chain."""
    start = time.perf_counter()
    result = detector(chain.chain)
    seconds = time.perf_counter() - start
    first = min(result.findings, key=lambda one: one.step) if result.findings else None
    said: Said = "nothing"
    if result.does_not_apply:
        said = "does not apply"
    elif first is not None:
        said = "found"
    elif result.cannot_tell:
        said = "cannot tell"
    return Verdict(
        module.rpartition(".")[2],
        detector.facts.name,
        chain.name,
        chain.mode,
        chain.truth,
        chain.strength,
        chain.split,
        detector.facts.name not in chain.also,
        said,
        None if first is None else first.step,
        None if first is None else first.confidence,
        result.cannot_tell or result.does_not_apply or ("" if first is None else first.detail),
        seconds,
    )


def measured_by(module: str) -> list[str]:
    """The detectors a module has truths for: its `MODES`, or all that no other module claims."""
    own = getattr(import_module(module), "MODES", None)
    if own is not None:
        return list(own)
    claimed = {mode for other in modules() for mode in getattr(import_module(other), "MODES", ())}
    return [name for name in expand_detectors(["all"]) if name not in claimed]


def chains(module: str, limit: int, seed: int, half: str) -> Iterator[Planted]:
    """A module's chains from at most `limit` pictures of a half, or of each half."""
    for one in HALVES if half == "all" else (half,):
        yield from import_module(module).planted(limit, seed, one)


def about(chain: Planted, detectors: list[Detector]) -> list[Detector]:
    """The detectors that the chain has a truth for."""
    return [one for one in detectors if chain.only is None or one.facts.name in chain.only]


def run(names: Iterable[str], limit: int, seed: int, wanted: set[str], half: str) -> list[Verdict]:
    """Every detector over every chain that is about it."""
    verdicts = []
    for module in names:
        detectors = [load_detector(name) for name in measured_by(module) if not wanted or name in wanted]
        if not detectors:
            continue
        for chain in chains(module, limit, seed, half):
            verdicts += [examined(chain, module, detector) for detector in about(chain, detectors)]
    return verdicts


def rate(wrong: int, of: int) -> str:
    """`3.1 % (1.4–6.6)`, or a dash of nothing."""
    low, high = wilson(wrong, of)
    if low is None or high is None:
        return "–"
    return f"{100 * wrong / of:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def _misses(rows: list[Verdict]) -> str:
    decided = [one for one in rows if one.decided]
    return rate(sum(one.said == "nothing" for one in decided), len(decided))


def row(name: str, rows: list[Verdict]) -> str:
    """One detector's line."""
    positive = [one for one in rows if one.positive]
    negative = [one for one in rows if not one.positive and one.counts and one.decided]
    alarms = [one for one in negative if one.said == "found"]
    found = [one for one in positive if one.said == "found"]
    errors = sorted(one.step - one.truth for one in found if one.step is not None and one.truth is not None)
    near = f"{median(errors):+g} ({sum(abs(each) <= 1 for each in errors) / len(errors):.0%})" if errors else "–"
    parts = [_misses([one for one in positive if one.strength == word]) for word in ("subtle", "clear", "strong")]
    others = [one for one in positive if one.strength not in ("subtle", "clear", "strong")]
    silent = sum(one.said == "cannot tell" for one in rows)
    speed = median([one.seconds for one in rows])
    cells = [name, str(len(positive)), _misses(positive), *parts, _misses(others), str(len(negative))]
    return f"| {' | '.join([*cells, rate(len(alarms), len(negative)), near, str(silent), f'{speed:.2f}'])} |"


HEAD = (
    "| detector | planted | missed | subtle | clear | strong | other | without | false alarms | onset error "
    "| cannot tell | s/chain |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
)


def table(verdicts: list[Verdict]) -> str:
    """Markdown: a row per detector, then what the false alarms were raised by."""
    names = list(dict.fromkeys(one.detector for one in verdicts))
    lines = [HEAD]
    for name in names:
        lines.append(row(name, [one for one in verdicts if one.detector == name]))
    for name in names:
        alarms = [
            one for one in verdicts if one.detector == name and not one.positive and one.counts and one.said == "found"
        ]
        if alarms:
            by = Counter(one.chain.rpartition("/")[0] or one.mode for one in alarms)
            told = ", ".join(f"{what} {count}" for what, count in by.most_common(6))
            lines.append(f"\nFalse alarms of {name}: {told}.")
    return "\n".join(lines)


def main() -> None:
    """Read the arguments, run, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=int, default=12, help="pictures per module [default: 12]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--module", action="append", default=[], help="only this module of benchmarks/planted")
    parser.add_argument("--detector", action="append", default=[], help="only this detector")
    parser.add_argument("--half", choices=("test", "development", "all"), default="test")
    parser.add_argument("--json", type=Path, help="write every verdict there")
    arguments = parser.parse_args()
    names = [one for one in modules() if not arguments.module or one.rpartition(".")[2] in arguments.module]
    if not names:
        known = ", ".join(one.rpartition(".")[2] for one in modules())
        raise SystemExit(f"no module {', '.join(arguments.module)} in benchmarks/planted (there are: {known})")
    verdicts = run(names, arguments.limit, arguments.seed, set(arguments.detector), arguments.half)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps([asdict(one) for one in verdicts], indent=1), encoding="utf-8")
    pictures = len({one.chain.rpartition("/")[2] for one in verdicts})
    sys.stdout.write(f"{pictures} pictures of the half `{arguments.half}`, seed {arguments.seed}.\n\n")
    for module in dict.fromkeys(one.module for one in verdicts):
        own = [one for one in verdicts if one.module == module]
        sys.stdout.write(f"{module}: {len({one.chain for one in own})} chains.\n\n{table(own)}\n\n")
    for name in names:
        for note in getattr(import_module(name), "notes", list)():
            sys.stdout.write(f"{note}\n")


if __name__ == "__main__":
    main()
