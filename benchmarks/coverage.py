"""How often intervals hold what they say: python -m benchmarks.coverage [--quick] [--markdown]

Simulates benchmarks whose truth is known, makes every kind of interval that the tool prints, and prints how often it
held the truth, beside what it says. `!` marks what misses the goal (within 2 points of 95 % from 8 sources on, never
under 90 %), `+` what is wider than it says, which whole numbers of cases and rounds are bound to be. No editor is run;
it takes two to four minutes.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr

from benchmarks.coverage_worlds import EXTREME, SCORE, USUAL, Generator, World, hits, losses, rivals, truth
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.paired import compare_paired
from convergebench.analysis.survival import kaplan_meier, median
from convergebench.analysis.trajectories import Floats

SOURCES = (5, 8, 12, 30)
OTHERS = ("coverage_audit", "settling")
"""Benchmarks that may have `rows()` of their own."""
SAID = 0.95
ROUNDS = 10
EDITS = 7


class Row(NamedTuple):
    """One cell; `wider`: whole numbers make it wider than it says, which is no fault."""

    what: str
    sources: int
    nominal: float
    actual: float
    wider: bool = False

    @property
    def mark(self) -> str:
        """` !` where the goal is missed, ` +` where the interval is wider than it says."""
        if self.nominal < 0.5:
            return " !" if self.actual > self.nominal + 0.02 + 1e-9 else ""
        if self.actual < self.nominal - (0.02 if self.sources >= 8 else 0.05) - 1e-9:
            return " !"
        return " +" if self.actual > self.nominal + 0.02 + 1e-9 and self.sources >= 8 and not self.wider else ""


def score_rows(runs: int, kind: Literal["corrected-t", "percentile"], worlds: dict[str, World]) -> Iterator[Row]:
    """The combined score C."""
    bootstrap = Bootstrap(500, kind=kind)
    for (name, world), sources in product(worlds.items(), SOURCES):
        features = world(_generator(name, sources), runs, sources)
        bands = [bootstrap.statistic(each, SCORE.value, bounds=(0, 100)) for each in features]
        held = [band.low[0] <= truth(world) <= band.high[0] for band in bands]
        before = "score, percentile of draws (not used)" if kind == "percentile" else "score"
        yield Row(f"{before}: {name}", sources, SAID, float(np.mean(held)))


def area_rows(runs: int) -> Iterator[Row]:
    """The area of one metric."""
    for name, sources in product(("near the top", "1 to 5 cases per image"), SOURCES):
        world = USUAL[name]
        features = world(_generator(name, sources, 1), runs, sources)
        many = world(np.random.default_rng(0), 1, 1_000_000)[0].sum(axis=0)
        band = Bootstrap().ratio(features[..., 0].T, features[..., 2].T, bounds=(-np.inf, 1))
        held = (band.low <= many[0] / many[2]) & (many[0] / many[2] <= band.high)
        yield Row(f"area: {name}", sources, SAID, float(held.mean()))


def share_rows(runs: int) -> Iterator[Row]:
    """Shares of cases: three that are typical, and the worst of many."""
    typical = {"adherence": (0.9, 5, 0.3), "verdict": (0.4, 3, 0.9), "failure": (0.05, 2, 0.3)}
    for (name, (share, cases, agreement)), sources in product(typical.items(), SOURCES):
        actual = _share(runs, sources, share, cases, agreement)
        yield Row(f"share: {name}, {share:.0%} of {cases} cases per image", sources, SAID, actual, wider=True)
    shares, agreements = (0.02, 0.05, 0.1, 0.3, 0.5, 0.8, 0.98), (0.0, 0.3, 0.9)
    for sources in (*SOURCES, 50):
        found = [_share(runs, sources, *world) for world in product(shares, (1, 2, 5), agreements)]
        yield Row("share: worst of 63 worlds", sources, SAID, min(found), wider=True)


def _share(runs: int, sources: int, share: float, cases: int, agreement: float) -> float:
    seen = hits(_generator(f"{share} {cases} {agreement}", sources), (sources, runs), cases, share, agreement)
    band = Bootstrap().share(seen, np.full(seen.shape, float(cases)))
    return float(((band.low <= share) & (share <= band.high)).mean())


def paired_rows(runs: int) -> Iterator[Row]:
    """Differences of the score between two editors, and how often two equal ones are told apart."""
    for (name, worse), sources in product((("equal", 1.0), ("different", 1.3)), (6, *SOURCES[1:])):
        held = found = 0
        one, other = rivals(np.random.default_rng(1), 1, 1_000_000, worse)
        real = float(SCORE.value(one[0].sum(axis=0)) - SCORE.value(other[0].sum(axis=0))) if worse != 1 else 0.0
        for one, other in zip(*rivals(_generator(name, sources), runs, sources, worse), strict=True):
            pair = compare_paired(one, other, SCORE.value, permutations=999)
            held, found = held + (pair.low <= real <= pair.high), found + (pair.p < 1 - SAID)
        yield Row(f"difference of scores: {name} editors", sources, SAID, held / runs)
        if worse == 1:
            yield Row("false alarms of its test", sources, 1 - SAID, found / runs)


def life_rows(runs: int) -> Iterator[Row]:
    """Kaplan–Meier medians, survival at round 4 where it has an interval, and differences of restricted means."""
    for (cases, lost), sources in product(((1, 0.15), (3, 0.15)), SOURCES):
        generator = _generator(f"life {cases}", sources)
        alive = (1 - lost) ** np.arange(ROUNDS + 1)
        middle, kept, held, survived = int(np.argmax(alive <= 0.5)), 0, 0, 0
        for _ in range(runs):
            times = _lives(generator, (sources, cases), lost).ravel()
            last = np.where(generator.random(times.size) < 0.2, generator.integers(1, ROUNDS + 1, times.size), ROUNDS)
            clusters = np.repeat(np.arange(sources), cases)
            curve = kaplan_meier(np.minimum(times, last), times <= last, clusters=clusters)
            low, high = (ROUNDS + 1 if end is None else end for end in median(curve)[1:])
            held += low <= middle <= high
            if curve.low.size > 4 and np.isfinite(curve.low[4]):
                kept, survived = kept + 1, survived + bool(curve.low[4] <= alive[4] <= curve.high[4])
        many = f"{cases} case{'s' * (cases > 1)} per image"
        yield Row(f"half-life: {many}", sources, SAID, held / runs, wider=True)
        yield Row(f"survival at round 4: {many}", sources, SAID, survived / max(kept, 1), wider=True)
    for sources in (6, *SOURCES[1:]):
        generator, held = _generator("restricted", sources), 0
        real = sum((0.92**n - 0.88**n) for n in range(ROUNDS))
        for _ in range(runs):
            shared = generator.normal(size=(sources, 1))
            lives = [np.minimum(_lives(generator, (sources, 3), lost, shared), ROUNDS) for lost in (0.08, 0.12)]
            one, other = (np.column_stack([life.sum(axis=1), np.full(sources, 3.0)]) for life in lives)
            pair = compare_paired(one, other, _mean, permutations=999)
            held += pair.low <= real <= pair.high
        yield Row("difference of restricted means", sources, SAID, held / runs)


def _lives(generator: Generator, shape: tuple[int, int], lost: float, shared: Floats | None = None) -> Floats:
    """Rounds until the level is passed at this rate, correlated within images."""
    shared = generator.normal(size=(shape[0], 1)) if shared is None else shared
    part = 0.5 if shape[1] > 1 else 0.0
    chance = ndtr(np.sqrt(part) * shared + np.sqrt(1 - part) * generator.normal(size=shape))
    return np.asarray(np.maximum(np.ceil(np.log1p(-chance) / np.log1p(-lost)), 1))


def edit_rows(runs: int) -> Iterator[Row]:
    """Seven edits that are a sample themselves: images alone are drawn, and two questions are asked."""
    for sources in SOURCES:
        generator = _generator("edits", sources)
        edits = generator.normal(size=(runs, 1, EDITS))
        loss, _ = losses(generator, (runs, sources, EDITS), 0.5)
        areas = 1 - loss * np.exp(0.5 * edits - 0.125)
        band = Bootstrap().ratio(areas.sum(axis=2).T, np.full((sources, runs), float(EDITS)), bounds=(-np.inf, 1))
        these = 1 - 0.15 * np.exp(0.5 * edits - 0.125).mean(axis=(1, 2))
        yield Row(
            "area, 7 edits: for these edits", sources, SAID, float(((band.low <= these) & (these <= band.high)).mean())
        )
        like = ((band.low <= 0.85) & (band.high >= 0.85)).mean()
        yield Row("area, 7 edits: for edits like these (not claimed)", sources, SAID, float(like))


def other_rows() -> Iterator[Row]:
    """What other benchmarks measured of their own intervals."""
    for name in OTHERS:
        try:
            found: Callable[[], list[tuple[str, int, float, float]]] | None = getattr(
                importlib.import_module(f"benchmarks.{name}"), "rows", None
            )
        except ModuleNotFoundError:
            continue
        for what, sources, nominal, actual in found() if found else ():
            yield Row(what, sources, nominal, actual, wider=True)


def rows(*, quick: bool = False) -> Iterator[Row]:
    """Every cell, in the order printed."""
    runs = 200 if quick else 2000
    yield from score_rows(runs, "corrected-t", USUAL)
    yield from score_rows(runs, "corrected-t", EXTREME)
    yield from score_rows(
        runs, "percentile", {"skewed losses, 5 cases per image": USUAL["skewed losses, 5 cases per image"]}
    )
    yield from area_rows(10 * runs)
    yield from share_rows(5 * runs)
    yield from paired_rows(runs)
    yield from life_rows(runs)
    yield from edit_rows(5 * runs)
    yield from () if quick else other_rows()


def _generator(name: str, sources: int, more: int = 0) -> Generator:
    return np.random.default_rng([sources, more, *name.encode()])


def _mean(totals: Floats) -> Floats:
    return np.asarray(totals[..., 0] / totals[..., 1])


def printed(found: list[Row], *, markdown: bool) -> str:
    """A line per kind of interval, a column per number of sources."""
    names, columns = list(dict.fromkeys(row.what for row in found)), sorted({row.sources for row in found})
    cells = {(row.what, row.sources): row for row in found}
    width = max(map(len, names))
    lines = [_line(["sources", "says", *map(str, columns)], width, markdown=markdown)]
    if markdown:
        lines.append("|---|" + "---:|" * (len(columns) + 1))
    for name in names:
        own = [cells.get((name, column)) for column in columns]
        says = next(f"{row.nominal:.0%}" for row in own if row)
        told = ["" if row is None else f"{100 * row.actual:.1f}{row.mark}" for row in own]
        lines.append(_line([name, says, *told], width, markdown=markdown))
    return "\n".join(lines)


def _line(parts: list[str], width: int, *, markdown: bool) -> str:
    if markdown:
        return f"| {' | '.join(parts)} |"
    return f"{parts[0]:{width}}" + "".join(f"{part:>8}" for part in parts[1:])


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few runs of each world")
    parser.add_argument("--markdown", action="store_true", help="a table for docs/design/intervals.md")
    wishes = parser.parse_args(arguments)
    print(printed(list(rows(quick=wishes.quick)), markdown=wishes.markdown))


if __name__ == "__main__":
    main(sys.argv[1:])
