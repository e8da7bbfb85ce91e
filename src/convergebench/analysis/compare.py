"""The ranking and its pairwise tests, on the cases that every ranked editor finished.

A case counts for an editor when its chain is finished and every metric of the score has a value in every round: an area
over some rounds only would flatter an editor whose other images cannot be measured. An editor with no such case is
listed last, without rank or score, and does not take part in the intersection: it must not empty it for the others. If
the remaining editors share no case at all, nobody is ranked. `n_left_out` counts the editor's own cases that are not
among the common ones; equal scores share a rank.

Recordings may differ in length: a case is scored over the rounds that all ranked editors have of it. Usable rounds are
over all of an editor's cases, since nothing was refused or failed among the common ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl

from convergebench.analysis.area import area_until
from convergebench.analysis.bootstrap import Bootstrap, by_source
from convergebench.analysis.halflife import Level, Passing, fit, half_life_text
from convergebench.analysis.permutation import holm, swap_test
from convergebench.analysis.result import AnalysisSettings
from convergebench.analysis.retention import retention
from convergebench.analysis.schemas import table
from convergebench.analysis.score import Score
from convergebench.analysis.settling import commonest
from convergebench.analysis.survival import median, restricted_mean
from convergebench.analysis.trajectories import Floats, Ints, Mask, Trajectories


class Contest(NamedTuple):
    """What is compared: who, on which chains, and their sums per source (same sources, same order, for all)."""

    ranked: tuple[str, ...]
    common: Mask
    usable: Mask
    until: Ints
    """Per chain: the last round that is compared, which is as far as all ranked editors went with the case."""
    features: dict[str, Floats]
    score: Score


def contest(data: Trajectories, score: Score) -> Contest:
    """Find the common cases and sum them per source."""
    finished = (data.chains["status"] == "finished").to_numpy()
    missing = [data.observed & np.isnan(data.values[name]) for name in score.metrics]
    whole = ~np.any(missing, axis=(0, 2)) & (data.reached > 0) if missing else False
    usable = finished & whole
    cases = np.array(data.column("case"), dtype=object)
    done = {editor: set(cases[usable & data.of(editor)]) for editor in data.editors}
    able = tuple(editor for editor in data.editors if done[editor])
    shared = set.intersection(*(done[editor] for editor in able)) if able else set()
    ranked = able if shared else ()
    common = usable & np.array([case in shared for case in cases], dtype=np.bool_)
    shortest: dict[str, int] = {}
    for case, rounds in zip(cases[common], data.reached[common].tolist(), strict=True):
        shortest[case] = min(rounds, shortest.get(case, rounds))
    until = np.array([shortest.get(case, 0) for case in cases], dtype=np.int64)
    features = {}
    for editor in ranked:
        rows = common & data.of(editor)
        kept = [retention(data.values[name][rows], data.facts[name]) for name in score.metrics]
        columns = [area_until(each, until[rows]) for each in kept]
        features[editor] = by_source(np.column_stack([*columns, np.ones(rows.sum())]), data.source[rows])[0]
    return Contest(ranked, common, usable, until, features, score)


@dataclass(frozen=True, slots=True)
class Beside:
    """What is printed beside the score, per chain: half-life, usable rounds, verdict."""

    headline: Level | None
    in_use: Passing
    verdicts: pl.Series
    simulated: frozenset[str]


def ranking(data: Trajectories, held: Contest, beside: Beside, *, bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `ranking`: best first, unranked editors last in their own order."""
    rows = []
    for editor in data.editors:
        mine = data.of(editor) & held.common & (editor in held.ranked)
        rows.append(
            {
                **{"editor": editor, "simulated": editor in beside.simulated, **_counts(data, held, editor)},
                **(_scores(held, editor, bootstrap) if mine.any() else {}),
                **_half_life(data, mine, beside, bootstrap.confidence),
                "usable": _usable(data, data.of(editor), beside, bootstrap.confidence),
                "verdict": commonest(beside.verdicts.filter(pl.Series(mine)).to_list()),
            }
        )
    frame = table("ranking", rows)
    named = {"score": "rank", "quality": "quality_rank", "semantic": "semantic_rank"}
    # values that differ in the tenth digit only differ by the order of a summation
    ranks = [pl.col(of).round(9).rank("min", descending=True).cast(pl.Int64).alias(to) for of, to in named.items()]
    return frame.with_columns(ranks).sort("rank", nulls_last=True, maintain_order=True)


def pairwise(held: Contest, frame: pl.DataFrame, settings: AnalysisSettings) -> pl.DataFrame:
    """The frame `pairwise`: every two ranked editors, the better first, Holm over all of them."""
    bootstrap = Bootstrap.of(settings)
    order = frame.filter(pl.col("score").is_not_null())["editor"].to_list()
    rows = [_pair(held, better, worse, bootstrap, settings) for better, worse in combinations(order, 2)]
    adjusted = holm([float(str(row["p"])) for row in rows])
    for row, p in zip(rows, adjusted, strict=True):
        row.update({"p_holm": p, "significant": p < 1 - settings.confidence})
    return table("pairwise", rows)


def _pair(
    held: Contest, better: str, worse: str, bootstrap: Bootstrap, settings: AnalysisSettings
) -> dict[str, object]:
    one, other = held.features[better], held.features[worse]
    width = one.shape[1]

    def difference(totals: Floats) -> Floats:
        return np.asarray(held.score.value(totals[..., :width]) - held.score.value(totals[..., width:]))

    band = bootstrap.statistic(np.hstack([one, other]), difference)
    test = swap_test(
        one,
        other,
        held.score.value,
        permutations=settings.permutations,
        exact_up_to=settings.exact_sources,
        seed=settings.seed,
    )
    return {
        **{"better": better, "worse": worse, "difference": band.estimate[0], "low": band.low[0], "high": band.high[0]},
        **{"p": test.p, "exact": test.exact, "n_cases": int(one[:, -1].sum()), "n_sources": one.shape[0]},
    }


def _scores(held: Contest, editor: str, bootstrap: Bootstrap) -> dict[str, object]:
    features = held.features[editor]
    band = bootstrap.statistic(features, held.score.value)
    quality = bootstrap.statistic(features, lambda totals: held.score.parts(totals)[0])
    semantic = bootstrap.statistic(features, lambda totals: held.score.parts(totals)[1])
    return {
        **{"score": band.estimate[0], "low": band.low[0], "high": band.high[0]},
        **{"quality": quality.estimate[0], "quality_low": quality.low[0], "quality_high": quality.high[0]},
        **{"semantic": semantic.estimate[0], "semantic_low": semantic.low[0], "semantic_high": semantic.high[0]},
    }


def _counts(data: Trajectories, held: Contest, editor: str) -> dict[str, int]:
    """Common cases, their sources, the editor's cases left out, and its finished cases with a value missing."""
    mine = data.of(editor)
    finished = mine & (data.chains["status"] == "finished").to_numpy()
    used = mine & held.common & (editor in held.ranked)
    return {
        "n_cases": int(used.sum()),
        "n_sources": int(np.unique(data.source[used]).size),
        "n_left_out": int((mine & ~used).sum()),
        "n_missing": int((finished & ~held.usable).sum()),
        "n_finished": int(finished.sum()),
    }


def _half_life(data: Trajectories, mine: Mask, beside: Beside, confidence: float) -> dict[str, object]:
    """Half-life at the headline level, on the common cases."""
    if not mine.any() or beside.headline is None:
        return {}
    curve = fit(data, beside.headline.cases, mine, confidence=confidence)
    middle, (mean, followed) = median(curve), restricted_mean(curve)
    return {
        **{"half_life": half_life_text(middle, followed), "half_life_median": middle.value},
        **{"half_life_low": middle.low, "half_life_high": middle.high, "restricted_mean": mean if followed else None},
    }


def _usable(data: Trajectories, mine: Mask, beside: Beside, confidence: float) -> str:
    """The median of usable rounds, on all of an editor's cases."""
    curve = fit(data, beside.in_use, mine, confidence=confidence)
    return half_life_text(median(curve), restricted_mean(curve)[1])
