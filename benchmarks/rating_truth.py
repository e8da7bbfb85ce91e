"""Whether the analysis of people's ratings finds what was put in: python -m benchmarks.rating_truth [--quick]

Simulates rating studies whose truth is known and prints as Markdown: how often intervals hold the truth, false alarms,
recovery of Bradley–Terry strengths, α beside its theoretical value, and which raters are flagged. About two minutes.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import polars as pl

from benchmarks.rating_world import HONEST, Kind, Mode, RatingWorld, ratings, study
from convergebench.analysis.krippendorff import krippendorff_alpha
from convergebench.analysis.permutation import holm
from convergebench.analysis.ratings.agreement import alpha_interval
from convergebench.analysis.ratings.answers import read_answers
from convergebench.analysis.ratings.bradley_terry import fit
from convergebench.analysis.ratings.flags import raters_table
from convergebench.analysis.ratings.preferences import preference_contrasts, preference_model, preference_table
from convergebench.analysis.ratings.two_way import two_way_mean

SIZES = ((3, 5), (5, 5), (10, 10), (20, 20))
"""Raters × pictures."""
WORLDS = {
    "usual": RatingWorld(),
    "near the top": RatingWorld(means=(4.6, 4.5, 4.4, 4.3, 4.0)),
    "raters differ much": RatingWorld(rater=1.0, taste=0.6),
    "pictures differ much": RatingWorld(picture=1.0, on_picture=0.9, rater=0.2, taste=0.1),
    "little but noise": RatingWorld(picture=0.1, on_picture=0.1, rater=0.1, taste=0.1, noise=1.2),
}
EQUAL = RatingWorld(means=(3.0,) * 5)
Row = Sequence[object]


def coverage(runs: int) -> Iterator[Row]:
    """Means, and paired differences, in % of simulated studies; with three of ten answers missing in the last row."""
    for (name, world), missing in (
        *((one, 0.0) for one in WORLDS.items()),
        (("usual, 30 % missing", RatingWorld()), 0.3),
    ):
        truth = world.true_means()
        means: list[str] = []
        differences: list[str] = []
        for raters, pictures in SIZES:
            draw = np.random.default_rng([raters, pictures, len(name)])
            held, there = [0, 0], 0
            for _ in range(runs):
                scores = world.scores(draw, raters, pictures)
                scores[draw.random(scores.shape[:2]) < missing] = np.nan
                mean = two_way_mean(scores[..., 1], 0.95)
                apart = two_way_mean(scores[..., 1] - scores[..., 3], 0.95)
                there += mean.low is not None  # with few pictures and gaps there may be none
                held[0] += holds(mean.low, truth[1], mean.high)
                held[1] += holds(apart.low, truth[1] - truth[3], apart.high)
            means.append(f"{100 * held[0] / there:.1f}")
            differences.append(f"{100 * held[1] / there:.1f}")
        yield (name, *means, *differences)


def false_alarms(runs: int) -> Iterator[Row]:
    """Five equal methods: how often any two are told apart after Holm, and how often one is called the best."""
    for name, world in (("scores", EQUAL), ("scores, near the top", replace(EQUAL, means=(4.6,) * 5))):
        found: tuple[list[str], list[str]] = ([], [])
        for raters, pictures in SIZES:
            draw = np.random.default_rng([raters, pictures, 7])
            alarms, best = 0, 0
            for _ in range(runs):
                scores = world.scores(draw, raters, pictures)
                tests = {
                    pair: two_way_mean(scores[..., pair[0]] - scores[..., pair[1]], 0.95)
                    for pair in combinations(range(5), 2)
                }
                certain = [p < 0.05 for p in holm([1.0 if one.p is None else one.p for one in tests.values()])]
                ahead = Counter(
                    pair[0] if (test.value or 0) > 0 else pair[1]
                    for (pair, test), sure in zip(tests.items(), certain, strict=True)
                    if sure
                )
                alarms, best = alarms + any(certain), best + (max(ahead.values(), default=0) == 4)
            found[0].append(f"{100 * alarms / runs:.1f}")
            found[1].append(f"{100 * best / runs:.1f}")
        yield (name, *found[0], *found[1])


def preferences(runs: int) -> Iterator[Row]:
    """Bradley–Terry: mean error of strengths, intervals that hold the truth, false alarms with equal methods."""
    for (name, world), (raters, pictures) in product(
        {
            "no taste, pictures alike": RatingWorld(picture=0, on_picture=0, taste=0),
            "usual": RatingWorld(),
            "raters differ much": RatingWorld(taste=0.8),
        }.items(),
        SIZES,
    ):
        draw = np.random.default_rng([raters, pictures, len(name)])
        truth = fit(world.true_chances()).strengths
        errors, held, all_ = [], 0, 0
        for _ in range(runs):
            table = preference_table(preference_model(world.pairs(draw, raters, pictures)), 0.95).sort("editor")
            errors.append(np.array([np.nan if one is None else one for one in table["strength"]]) - truth)
            held += sum(
                holds(low, real, high)
                for low, real, high in zip(table["low"], truth, table["high"], strict=True)
                if low is not None
            )
            all_ += table["low"].count()
        alarms = 0
        for _ in range(runs):
            model = preference_model(replace(world, means=(3.0,) * 5).pairs(draw, raters, pictures))
            alarms += any(row["significant"] for row in preference_contrasts(model, 0.95))
        bias = np.nanmean(np.array(errors), axis=0)
        spread = float(np.sqrt(np.nanmean(np.array(errors) ** 2)))
        yield (
            *(name, f"{raters} × {pictures}", f"{np.abs(bias).max():.2f}", f"{spread:.2f}"),
            *(f"{100 * held / max(all_, 1):.1f}", f"{100 * alarms / runs:.1f}"),
        )


def alphas(runs: int) -> Iterator[Row]:
    """Krippendorff's α of unrounded scores beside the ratio of variances that it estimates, and its intervals."""
    for (name, world), (raters, pictures) in product(
        {
            "methods alike": RatingWorld(means=(3.0,) * 5, rater=0.5, taste=0.0),
            "hard pictures": RatingWorld(means=(3.0,) * 5, picture=1.2, rater=0.5, taste=0.0),
            "nothing but noise": RatingWorld(means=(3.0,) * 5, picture=0, on_picture=0, rater=0, taste=0),
        }.items(),
        SIZES[1:],
    ):
        draw = np.random.default_rng([raters, pictures, len(name)])
        signal, noise = world.picture**2 + world.on_picture**2, world.noise**2
        truth = signal / (signal + world.rater**2 + noise)
        sources = [str(picture) for picture in range(pictures) for _ in world.means]
        found, held = [], 0
        for _ in range(runs):
            seen = world.latent(draw, pictures).reshape(1, -1)
            table = seen + draw.normal(0, world.rater, (raters, 1)) + draw.normal(0, world.noise, (raters, seen.size))
            ends = alpha_interval(table, sources, krippendorff_alpha, 0.95)
            found.append(krippendorff_alpha(table) or 0.0)
            held += ends is not None and ends[0] <= truth <= ends[1]
        yield (name, f"{raters} × {pictures}", f"{truth:.3f}", f"{np.mean(found):.3f}", f"{100 * held / runs:.1f}")


CHEATS: tuple[Kind, ...] = ("random", "constant", "reversed", "left")
PANELS = ((5, 5), (5, 20), (10, 10), (20, 10), (20, 20))
"""Raters × pictures of the panels in which raters are flagged; of each picture five methods, or the pairs of four."""


def flags(runs: int) -> Iterator[Row]:
    """Flagged in %: panels of honest raters of all kinds, with one who cheats among five and two among more."""
    modes: tuple[Mode, ...] = ("score", "preference")
    for mode, (raters, pictures) in product(modes, PANELS):
        draw = np.random.default_rng([raters, pictures, len(mode)])
        cheats = CHEATS[: 3 if mode == "score" else 4]
        flagged: Counter[Kind] = Counter()
        asked: Counter[Kind] = Counter()
        for _ in range(runs):
            bad = draw.integers(0, len(cheats), 1 if raters < 10 else 2)
            good = np.where(draw.random(raters) < 0.5, 0, draw.integers(0, len(HONEST), raters))
            kinds = [*(HONEST[one] for one in good[bad.size :]), *(cheats[one] for one in bad)]
            found = dict(panel(draw, kinds, pictures, mode).select("rater", "flagged").iter_rows())
            asked.update(kinds)
            flagged.update(kind for number, kind in enumerate(kinds) if found[f"rater-{number}"])
        every = [sum(counter[kind] for kind in HONEST) for counter in (flagged, asked)]
        shares = [f"{100 * flagged[kind] / asked[kind]:.0f}" if asked[kind] else "–" for kind in (*HONEST, *CHEATS)]
        yield (mode, f"{raters} × {pictures}", f"{100 * every[0] / every[1]:.1f}", *shares)


def panel(draw: np.random.Generator, kinds: Sequence[Kind], pictures: int, mode: Mode) -> pl.DataFrame:
    """The frame `raters` of a simulated panel."""
    world = RatingWorld() if mode == "score" else RatingWorld(means=(3.6, 3.0, 2.4, 1.8))
    given = study(ratings(draw, kinds, pictures, world=world, mode=mode), pictures, len(world.means))
    return raters_table(read_answers(given.ratings, given.chains))


def holds(low: float | None, truth: float, high: float | None) -> bool:
    """Whether the interval contains the truth."""
    return low is not None and high is not None and low - 1e-9 <= truth <= high + 1e-9


def _print(title: str, heads: Sequence[str], rows: Iterator[Row]) -> None:
    print(f"\n{title}\n\n| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulated studies")
    part = 10 if parser.parse_args().quick else 1
    sizes = [f"{raters} × {pictures}" for raters, pictures in SIZES]
    both = [f"{what} {size}" for what in ("mean", "difference") for size in sizes]
    _print("Truth held, % (95 is said)", ["world", *both], coverage(1000 // part))
    alarms = [f"{what} {size}" for what in ("any pair", "a best one") for size in sizes]
    _print("False alarms, %", ["five equal methods", *alarms], false_alarms(400 // part))
    heads = ["world", "raters × pictures", "largest bias", "error", "truth held, %", "false alarms, %"]
    _print("Bradley–Terry strengths", heads, preferences(120 // part))
    _print("Krippendorff's α", ["world", "raters × pictures", "theory", "mean", "truth held, %"], alphas(300 // part))
    kinds = ["mode", "raters × pictures", "honest in all", *HONEST, *CHEATS]
    _print("Raters flagged, %", kinds, flags(40 // part))


if __name__ == "__main__":
    main()
