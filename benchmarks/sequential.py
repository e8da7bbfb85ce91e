"""What `--until decided` saves, and whether its error rate holds: python -m benchmarks.sequential [--markdown]

Simulates comparisons of two editors whose truth is known, with a look after every image, and prints how often a wrong
statement was made at any look, how often the interval missed the truth at any look, and which share of the images (so
of the calls and dollars) was run. Beside it: the report's sign-flip test looked at after every image, which is not
valid, and once at the end, which is. Then the same on stored chains of three autoencoders in random orders. No editor
is run; it takes some minutes. `--picture FILE` draws the savings; `--chains RUN` makes the stored table from a run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.sequential_worlds import WORLDS, World, areas, stored_chains, write_chains
from convergebench.analysis.paired import compare_paired
from convergebench.analysis.sequential.betting import Method, capital
from convergebench.analysis.trajectories import Floats, Ints

ERROR = 0.05
LIMIT = 0.05
"""Smallest difference of interest: 5 points."""
IMAGES = (3, 6, 12, 30, 50, 100)
DIFFERENCES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
METHODS: tuple[Method, ...] = ("suite", "bounded", "symmetric")


class Outcome(NamedTuple):
    """Shares over many runs."""

    wrong: float
    """A wrong statement: the wrong editor ahead, or no difference of interest where there is one."""
    missed: float
    """The interval lies beside the truth at some look."""
    share: float
    """Images that were run, of all."""
    decided: float


def sequential(values: Floats, truth: Floats, method: Method, error: float = ERROR) -> Outcome:
    """Decide with a look after every image; `truth` per run."""
    times, signs = decisions(values, method, error)
    within = np.abs(truth) < LIMIT
    alike = (times > 0) & (signs == 0)
    wrong = ((signs != 0) & (np.sign(truth) != signs)) | (alike & ~within)
    images = values.shape[1]
    lower, upper = (_sup(values * sign, truth * sign, method) for sign in (1, -1))
    missed = (lower >= 2 / error) | (upper >= 2 / error)
    run = np.where(times > 0, times, images)
    return Outcome(float(wrong.mean()), float(missed.mean()), float(run.mean() / images), float((times > 0).mean()))


def decisions(values: Floats, method: Method, error: float = ERROR) -> tuple[Ints, Ints]:
    """Images until decided (0: never), and the sign of the verdict (0: no difference of interest)."""
    images, needed = values.shape[1], 2 / error
    above, below = (_grown(values * sign, 0.0, method) >= needed for sign in (1, -1))
    alike = np.logical_and(*(_grown(values * sign, -LIMIT, method) >= needed for sign in (1, -1)))
    over = above | below | alike
    first = np.where(over.any(axis=1), over.argmax(axis=1), images)
    row = np.arange(values.shape[0])
    at = np.minimum(first, images - 1)
    sign = np.where(above[row, at], 1, np.where(below[row, at], -1, 0))
    return np.where(first < images, first + 1, 0), np.where(first < images, sign, 0)


def _grown(values: Floats, mean: float | Floats, method: Method) -> Floats:
    return np.asarray(np.maximum.accumulate(capital(values, mean, method, values.shape[1]), axis=1))


def _sup(values: Floats, means: Floats, method: Method) -> Floats:
    """The most that the gambler against the truth ever had; rounding of a mean that is known exactly is no evidence."""
    return _grown(values, means + 1e-9, method)[:, -1]


def peeking(values: Floats, truth: Floats, *, every: bool) -> Outcome:
    """The sign-flip test of the report, after every image from the sixth on, or once with all images."""
    runs, images = values.shape
    wrong, counts, found = np.zeros(runs, bool), np.full(runs, images), np.zeros(runs, bool)
    looks = range(6, images + 1) if every else [images]
    for row in range(runs):
        for count in looks:
            both = (
                np.column_stack([values[row, :count], np.ones(count)]),
                np.column_stack([np.zeros(count), np.ones(count)]),
            )
            pair = compare_paired(
                *both, lambda totals: totals[..., 0] / totals[..., 1], permutations=199, exact_up_to=8
            )
            if pair.p <= ERROR:
                wrong[row], found[row], counts[row] = np.sign(pair.difference) != np.sign(truth[row]), True, count
                break
    return Outcome(float(wrong.mean()), float("nan"), float(counts.mean() / images), float(found.mean()))


def truths(values: Floats, mean: float, method: Method) -> Floats:
    """What the method speaks of: the mean of the suite, or of the world."""
    return values.mean(axis=1) if method == "suite" else np.full(values.shape[0], mean)


def error_rows(runs: int) -> Iterator[list[str]]:
    """Worst wrong rate and worst miss rate over all differences, per world, method and number of images."""
    for name, world in WORLDS.items():
        for method in METHODS:
            cells = [_worst(world, name, method, images, runs) for images in IMAGES]
            yield [name, method, *(f"{100 * wrong:.1f} / {100 * missed:.1f}" for wrong, missed in cells)]


def _worst(world: World, name: str, method: Method, images: int, runs: int) -> tuple[float, float]:
    found = []
    for mean in DIFFERENCES:
        values = _drawn(world, name, runs, images, mean)
        # clipping moves the mean of a world with long tails, so its truth is that of very many clipped draws
        real = float(_drawn(world, name, 1, 400_000, mean, more=1).mean()) if method != "suite" else 0.0
        found.append(sequential(values, truths(values, real, method), method))
    return max(one.wrong for one in found), max(one.missed for one in found)


def saving_rows(runs: int, images: tuple[int, ...] = (12, 30, 50, 100)) -> Iterator[list[str]]:
    """The share of images that was run with an even spread of 10 points, per difference."""
    for count in images:
        for method in METHODS:
            cells = []
            for mean in DIFFERENCES:
                values = _drawn(WORLDS["even"], "even", runs, count, mean)
                one = sequential(values, truths(values, mean, method), method)
                cells.append(f"{100 * one.share:.0f} ({100 * one.decided:.0f})")
            yield [str(count), method, *cells]


def peeking_rows(runs: int) -> Iterator[list[str]]:
    """Equal editors, 30 images: how often one of them is declared better."""
    for name in ("even", "heavy tails", "skewed", "one in ten refused", "three kinds"):
        values = _drawn(WORLDS[name], name, runs, 30, 0.0)
        zero = np.zeros(runs)
        own = [sequential(values, values.mean(axis=1), "suite").wrong]
        own += [sequential(values, zero, method).wrong for method in ("bounded", "symmetric")]
        naive = [peeking(values[:300], zero[:300], every=every).wrong for every in (True, False)]
        yield [name, *(f"{100 * one:.1f}" for one in (*naive, *own))]


def stored_rows(orders: int) -> Iterator[list[str]]:
    """Stored chains of autoencoders: every two, in random orders; what the whole suite says is the truth."""
    editors, chains = stored_chains()
    scores = areas(chains)
    generator = np.random.default_rng(1)
    for one, other in combinations(range(len(editors)), 2):
        values = scores[one] - scores[other]
        mixed = np.array([generator.permutation(values) for _ in range(orders)])
        cells = []
        for method in METHODS:
            found = sequential(mixed, np.full(orders, values.mean()), method)
            cells.append(f"{100 * found.share:.0f} / {100 * found.wrong:.1f}")
        fixed = compare_paired(
            np.column_stack([scores[one], np.ones(values.size)]),
            np.column_stack([scores[other], np.ones(values.size)]),
            lambda totals: totals[..., 0] / totals[..., 1],
        )
        told = f"{100 * values.mean():+.1f} ± {100 * values.std():.1f}"
        yield [f"{editors[one]} − {editors[other]}", told, f"{fixed.p:.2g}", *cells]


def _drawn(world: World, name: str, runs: int, images: int, mean: float, more: int = 0) -> Floats:
    generator = np.random.default_rng([images, more, round(1000 * mean), *name.encode()])
    return np.clip(world(generator, runs, images, mean), -1, 1)


def draw(target: Path, runs: int) -> None:
    """Share of the images that was run, by difference, for suites of several sizes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    means = np.linspace(0, 0.5, 21)
    shown: tuple[Method, ...] = ("suite", "symmetric")
    for panel, method in zip(panels, shown, strict=True):
        for images in (12, 30, 100):
            shares = []
            for mean in means:
                values = _drawn(WORLDS["even"], "even", runs, images, float(mean))
                shares.append(100 * sequential(values, truths(values, mean, method), method).share)
            panel.plot(100 * means, shares, label=f"{images} images")
        panel.axhline(100 / 3, color="grey", linewidth=0.8, linestyle="--")
        panel.set(title=f"method {method}", xlabel="difference in points", ylim=(0, 105))
    panels[0].set_ylabel("% of the calls")
    panels[0].legend(frameon=False)
    FigureCanvasAgg(figure)
    figure.savefig(target, dpi=110)


def printed(title: str, heads: list[str], rows: list[list[str]], *, markdown: bool) -> str:
    """A table with its title."""
    if markdown:
        lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *(f"| {' | '.join(row)} |" for row in rows)]
    else:
        wide = [max(len(row[place]) for row in [heads, *rows]) for place in range(len(heads))]
        lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, wide, strict=True)) for row in [heads, *rows]]
    return "\n".join([f"\n{title}\n", *lines])


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sequential", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few runs of each world")
    parser.add_argument("--markdown", action="store_true", help="tables for docs/design/sequential.md")
    parser.add_argument("--picture", type=Path, help="draw the savings into this file")
    parser.add_argument("--chains", type=Path, help="write the table of stored chains from this run, and stop")
    wishes = parser.parse_args(arguments)
    if wishes.chains:
        return write_chains(wishes.chains)
    runs = 300 if wishes.quick else 4000
    if wishes.picture:
        return draw(wishes.picture, runs // 4)
    sizes, means = list(map(str, IMAGES)), [f"{100 * mean:g}" for mean in DIFFERENCES]
    for title, heads, rows in (
        (
            "Wrong statements / missed intervals at any look, in %, worst difference",
            ["world", "method", *sizes],
            error_rows(runs),
        ),
        (
            "Equal editors, 30 images: one declared better, in %",
            ["world", "test, peeking", "test, once", *METHODS],
            peeking_rows(runs),
        ),
        (
            "Share of images run in % (decided in %), by difference in points",
            ["images", "method", *means],
            saving_rows(runs),
        ),
        (
            "Stored chains: share run / wrong, in %",
            ["pair", "difference", "p, all images", *METHODS],
            stored_rows(runs),
        ),
    ):
        print(printed(title, heads, list(rows), markdown=wishes.markdown), flush=True)
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
