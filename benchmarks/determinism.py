"""Does a metric give the same value twice?  python -m benchmarks.determinism [--metric NAME …] [--device cuda] [--json]

Every metric that can run here scores one damaged photograph (against the photograph, where it wants one): twice in one
process, in a fresh process, with two threads instead of one, on the other device, after the image went through a PNG
file, and with both images at half the size. Each figure is the distance from the first value; 0 means the same bits.
The last column is no fault: it says how far the score hangs on the size in pixels. Run it from the repository's root.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from math import isinf
from typing import NamedTuple, cast

from convergebench import registry
from convergebench.errors import StudyError
from convergebench.images.frame import Frame, Pixels
from convergebench.measuring import repeatability
from convergebench.measuring.repeatability import GONE, Values
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.metrics.place import Place, choose, place
from convergebench.metrics.readiness import lacks
from tests.metrics.pictures import jpeg, photograph, with_disc

CHECKS = ("twice", "process", "threads", "device", "png", "half")
"""Columns, in the order of the module's first paragraph."""


class Row(NamedTuple):
    metric: str
    value: float | str
    """The first value, or the reason that there is none."""
    distances: dict[str, float | None]
    """Check → distance from the first value; None where it was not made."""


def candidates(names: Sequence[str]) -> list[str]:
    """Which of these (of all, if none is named) can run here without asking a model."""
    chosen = names or registry.names("metrics")
    facts = {name: load_metric(name).facts for name in chosen}
    return [name for name, one in facts.items() if not one.asks and not lacks(one)]


def pictures(side: int) -> tuple[Pixels, Pixels, Pixels]:
    """Subject, reference, and an image that lies between them in a round."""
    reference = photograph("astronaut", side, side)
    return jpeg(reference, 40), reference, with_disc(reference)


def item(subject: Pixels, reference: Pixels, via: Pixels) -> Item:
    """Fresh frames: nothing that was worked out before is remembered."""
    words = ("add a red ball", "a portrait of an astronaut", "a portrait of an astronaut with a red ball")
    return Item(Frame(subject), Frame(reference), Frame(via), "add", *words)


def probe(names: Sequence[str], side: int) -> dict[str, dict[str, float | str]]:
    """All cases of all metrics in this process."""
    subject, reference, via = pictures(side)
    stored = repeatability.versions(subject)["png"]
    halves = [repeatability.halved(one) for one in (subject, reference, via)]
    return repeatability.score_cases(
        names,
        {
            "first": lambda: item(subject, reference, via),
            "twice": lambda: item(subject, reference, via),
            "png": lambda: item(stored, reference, via),
            "half": lambda: item(*halves),
        },
    )


def elsewhere(names: Sequence[str], side: int, *, threads: int = 1, device: str = "cpu") -> Values:
    """The same in a process of its own."""
    options = ["--probe", "--side", str(side), "--threads", str(threads), "--device", device]
    words = [*options, *(word for name in names for word in ("--metric", name))]
    try:
        return cast(Values, repeatability.run_module("benchmarks.determinism", words, threads=threads))
    except StudyError as error:
        raise SystemExit(str(error)) from error


def compare(first: Values, again: Values, threads: Values, device: Values) -> Iterator[Row]:
    """One row per metric; those that are no networks have no second device."""
    for name, own in first.items():
        others = {
            "twice": own["twice"],
            "process": again[name]["first"],
            "threads": threads[name]["first"],
            "device": device[name]["first"] if name in device else None,
            "png": own["png"],
            "half": own["half"],
        }
        yield Row(name, own["first"], {check: distance(own["first"], others[check]) for check in CHECKS})


def distance(one: float | str, other: float | str | None) -> float | None:
    """Between two values; None where either is missing, infinite if only one of them is."""
    if other is None or (isinstance(one, str) and isinstance(other, str)):
        return None
    if isinstance(one, str) or isinstance(other, str):
        return float("inf")
    return abs(one - other)


def rows(names: Sequence[str], side: int, device: str) -> list[Row]:
    """The whole table; `device` is compared with the processor."""
    first = elsewhere(names, side)
    again = elsewhere(names, side)
    threads = elsewhere(names, side, threads=2)
    networks = [name for name in names if load_metric(name).facts.network]
    moved = elsewhere(networks, side, device=device) if device != "cpu" and networks else {}
    return list(compare(first, again, threads, moved))


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.determinism", description=__doc__)
    parser.add_argument("--metric", action="append", default=[], help="only this one (may be repeated)")
    parser.add_argument("--side", type=int, default=512, help="width and height of the photograph in pixels")
    parser.add_argument("--device", default="auto", help="what to compare the processor with: cuda, cuda:1, cpu (none)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.probe:
        repeatability.limit_threads(options.threads, options.metric)
        with place(Place(options.device)):
            print(json.dumps(probe(options.metric, options.side)))
        return
    table = rows(candidates(options.metric), options.side, choose(options.device).device)
    if options.json:
        print(json.dumps([{**row._asdict(), "distances": _plain(row.distances)} for row in table], indent=1))
        return
    print(f"{'':18}{'value':>12}" + "".join(f"{check:>11}" for check in CHECKS))
    for row in table:
        value = row.value if isinstance(row.value, str) else f"{row.value:.6g}"
        print(f"{row.metric:18}{value:>12}" + "".join(f"{_shown(row.distances[check]):>11}" for check in CHECKS))


def _shown(value: float | None) -> str:
    if value is None:
        return "–"
    return GONE if isinf(value) else "0" if value == 0 else f"{value:.1e}"


def _plain(distances: Mapping[str, float | None]) -> dict[str, float | str | None]:
    """JSON knows no infinity."""
    return {check: GONE if value is not None and isinf(value) else value for check, value in distances.items()}


if __name__ == "__main__":
    main()
