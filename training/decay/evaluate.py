"""The test of `decay`, as protocol.md lays it down; prints the tables of docs/results/decay.md.

    python -m training.decay.evaluate test.npz frozen.npz untouched-test.npz untouched-tune.npz
        [--round-trips FOLDER] [--rates RATES.json]

`--round-trips` scores recorded round trips of an editor that was never learned from; `--rates` writes what
`cbench filter` tells of its errors.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from convergebench.images.frame import Frame
from convergebench.metrics.no_reference.decay import scaled, shipped_numbers
from convergebench.metrics.no_reference.decay_reading import FLATTEST, read_decay, strangeness
from training.decay.counting import Failures, Table, failures, standing_still
from training.decay.learned import AUTOENCODERS
from training.decay.pack import LEARNED
from training.decay.scores import PUBLIC, public

Numbers = NDArray[np.float64]
ALARMS = 0.05
"""Share of tuning photographs that the limit lets be refused."""
STEPS = (1, 5, 10, 20)


def show(head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """A table in Markdown."""
    rows = ["| " + " | ".join(line) + " |" for line in (head, *lines)]
    print("\n".join([rows[0], "|" + " --- |" * len(head), *rows[1:], ""]))  # noqa: T201


def values_of(table: Table) -> Numbers:
    """The metric's value of every row."""
    return np.array([scaled(float(raw)) for raw in table["network"]])


def is_known(table: Table) -> NDArray[np.bool_]:
    """Rows that are not "unknown"."""
    strangest = float(shipped_numbers()["strangest"])
    near = np.array([strangeness(hidden) <= strangest for hidden in table["network-hidden"]])
    return np.asarray(near & (table["flat"] <= FLATTEST), np.bool_)


def by_family(tables: Sequence[Table]) -> list[list[str]]:
    """Failing photographs per family, beside the public metrics."""
    lines = []
    for table in tables:
        for family in dict.fromkeys(map(str, table["family"])):
            still = standing_still(table, [family])
            cells = [failures(table, values_of(table), [family])]
            cells += [failures(table, table["public"][:, place], [family]) for place in range(len(PUBLIC))]
            name = family + (f" ({still} of its chains stand still)" if still else "")
            lines.append([name, *map(str, cells)])
    return lines


def totals(table: Table) -> tuple[list[str], list[list[str]]]:
    """Head and lines: chains that fail over all families that were not in teaching, and over all autoencoders."""
    unmet = sorted(set(map(str, table["family"])) - {*LEARNED, "mixed"})
    scores = {"decay": table["network"]} | {name: table["public"][:, place] for place, name in enumerate(PUBLIC)}
    scores |= {"taught without autoencoders": table["without"]} if "without" in table else {}
    lines = []
    for name, families in (("editors that it never met", unmet), ("autoencoders", list(AUTOENCODERS))):
        counts = [failures(table, score, families) for score in scores.values()]
        lines.append([name, *(f"{one.failed}/{one.chains}" for one in counts)])
    return ["chains that fail", *scores], lines


def round_trips(folder: Path) -> list[list[str]]:
    """Chains that fail, per metric: rounds 2 and 3 against 1, of returns and of forward pictures."""
    found: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    names = ["decay", *PUBLIC]
    for chain in sorted(path.parent for path in folder.glob("*/I0_source.png")):
        source = hashlib.sha256((chain / "I0_source.png").read_bytes()).hexdigest()
        for kind in ("backward", "forward"):
            said = []
            for number in (1, 2, 3):
                with Image.open(chain / f"I{number}_{kind}.png") as picture:
                    pixels = np.ascontiguousarray(np.asarray(picture.convert("RGB"), np.uint8))
                said.append([read_decay(Frame(pixels)).value, *public(pixels)])
            for place, name in enumerate(names):
                first, *later = (row[place] for row in said)
                found[f"{name}/{kind}"][source].append(any(not one > first for one in later))
    lines = []
    for name in names:
        cells = []
        for kind in ("backward", "forward"):
            many = found[f"{name}/{kind}"]
            chains = [one for some in many.values() for one in some]
            photographs = Failures(len(chains), sum(chains), len(many), sum(map(any, many.values())))
            cells += [f"{sum(chains)}/{len(chains)}", str(photographs)]
        lines.append([name, *cells])
    return lines


def clustered(
    alarm: NDArray[np.floating], photographs: NDArray[Any], weights: Numbers | None = None
) -> tuple[float, float, float]:
    """A weighted share, and its 95 % interval from resampling photographs."""
    weights = np.ones(len(alarm)) if weights is None else weights
    names, place = np.unique(photographs, return_inverse=True)
    top, bottom = (np.bincount(place, one, len(names)) for one in (weights * alarm, weights))
    drawn = np.random.default_rng(0).integers(0, len(names), (2000, len(names)))
    low, high = np.quantile(top[drawn].sum(1) / bottom[drawn].sum(1), (0.025, 0.975))
    share = float(top.sum() / bottom.sum())
    if share in (0.0, 1.0):  # resampling cannot see what did not happen once: the rule of three
        beyond = 1 - 0.025 ** (1 / len(names))
        low, high = (0.0, beyond) if share == 0 else (1 - beyond, 1.0)
    return share, float(low), float(high)


def percent(found: tuple[float, float, float]) -> str:
    """`4.1 % (2.9–5.8)`."""
    return f"{found[0]:.1%} ({100 * found[1]:.1f}–{100 * found[2]:.1f})"


def family_weights(table: Table, rows: NDArray[np.bool_]) -> Numbers:
    """Every family counts the same."""
    count = {family: int((rows & (table["family"] == family)).sum()) for family in set(table["family"])}
    return np.array([1 / max(1, count[family]) for family in table["family"]])


def rates(joined: Table, untouched: Table, limits: Sequence[float]) -> list[dict[str, Any]]:
    """False alarms and misses of a limit, of pictures that are not unknown."""
    values, fresh = values_of(joined), values_of(untouched)
    photographs = is_known(untouched) & (untouched["treatment"] != "drawing")
    known = is_known(joined)
    rows = []
    for limit in limits:
        alarms = clustered(1.0 * (fresh[photographs] > limit), untouched["photograph"][photographs])
        missed = {}
        for step in STEPS[1:]:
            at = known & (joined["step"] == step)
            weights = family_weights(joined, at)[at]
            missed[str(step)] = clustered(1.0 * (values[at] <= limit), joined["photograph"][at], weights)
        at = known & np.isin(joined["step"], STEPS[1:])
        every = clustered(1.0 * (values[at] <= limit), joined["photograph"][at], family_weights(joined, at)[at])
        rows.append(
            {
                "limit": round(float(limit), 1),
                "false_alarms": [round(one, 4) for one in alarms],
                "missed": [round(one, 4) for one in every],
                "missed_by_steps": {step: [round(one, 4) for one in three] for step, three in missed.items()},
            }
        )
    return rows


def joined(tables: Sequence[Table]) -> dict[str, Any]:
    """Several tables as one."""
    return {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("test", "frozen", "untouched", "tuned"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--round-trips", type=Path)
    parser.add_argument("--rates", type=Path)
    chosen = parser.parse_args(given)
    test, frozen, untouched, tuned = (
        dict(np.load(path)) for path in (chosen.test, chosen.frozen, chosen.untouched, chosen.tuned)
    )
    show(["family", "decay", *PUBLIC], by_family([test, frozen]))
    show(*totals(joined([test, frozen])))
    if chosen.round_trips:
        show(["metric", "returns", "photographs", "forward", "photographs"], round_trips(chosen.round_trips))
    calm = is_known(tuned) & (tuned["treatment"] != "drawing")
    limit = float(np.quantile(values_of(tuned)[calm], 1 - ALARMS))
    fresh, known = values_of(untouched), is_known(untouched)
    spread = fresh[untouched["treatment"] == "as it is"].std()
    print(f"limit: {limit:.1f}; standard deviation of untouched photographs as they are: {spread:.0f}\n")  # noqa: T201
    lines = []
    for treatment in dict.fromkeys(map(str, untouched["treatment"])):
        rows = untouched["treatment"] == treatment
        alarms = (
            clustered(1.0 * (fresh > limit)[rows & known], untouched["photograph"][rows & known])
            if (rows & known).any()
            else None
        )
        lines.append(
            [
                treatment,
                f"{np.median(fresh[rows]):.0f}",
                percent(alarms) if alarms else "–",
                f"{1 - known[rows].mean():.0%}",
            ]
        )
    every = known & (untouched["treatment"] != "drawing")
    lines.append(
        [
            "all photographs",
            f"{np.median(fresh[every]):.0f}",
            percent(clustered(1.0 * (fresh > limit)[every], untouched["photograph"][every])),
            "",
        ]
    )
    show(["untouched photographs", "median", "false alarms", "unknown"], lines)
    both = joined([test, frozen])
    values, seen = values_of(both), is_known(both)
    lines = []
    for family in dict.fromkeys(map(str, both["family"])):
        cells = []
        for step in STEPS:
            rows = seen & (both["family"] == family) & (both["step"] == step)
            cells.append(f"{(values[rows] > limit).mean():.0%}" if rows.any() else "–")
        unknown = 1 - seen[both["family"] == family].mean()
        lines.append([family, *cells, f"{unknown:.0%}"])
    show(
        ["above the limit after", *(f"{step} remakings" if step > 1 else "1 remaking" for step in STEPS), "unknown"],
        lines,
    )
    numbers = shipped_numbers()
    passed = np.isin(both["family"], AUTOENCODERS) & seen
    low, high = (np.interp(both["network"], numbers["grid"], numbers[key]) for key in ("low", "high"))
    inside = (low <= both["step"]) & (both["step"] <= high)
    share = percent(clustered(1.0 * inside[passed], both["photograph"][passed]))
    print(f"remakings of autoencoders inside their interval: {share}")  # noqa: T201
    if chosen.rates:
        limits = sorted({round(float(one), 1) for one in (*np.linspace(limit - 60, limit + 80, 20), limit)})
        document = {
            "version": 3,
            "pictures": {
                "untouched": int((untouched["treatment"] != "drawing").sum()),
                "worn": int((both["step"] > 1).sum()),
            },
            "limits": rates(both, untouched, limits),
        }
        chosen.rates.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
