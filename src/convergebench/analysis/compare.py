"""The ranking and its pairwise tests.

Scores of ranked editors are on the cases that all of them have (`analysis.contest` says over which rounds). An editor
without a rank is scored on as many of these cases as it has. Differences are paired: each two ranked editors on the
cases that those two have, with an interval and a test that agree, Holm over all pairs. Equal scores share a rank.
`n_left_out` counts the editor's chains that are not compared; `n_missing` rounds that a metric of the score lacks for
reasons of ours; `n_lost` rounds whose picture cannot be measured because of what the editor did to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from convergebench.analysis.area import missing
from convergebench.analysis.bootstrap import FEWEST_SOURCES, Bootstrap
from convergebench.analysis.contest import Bout, Contest
from convergebench.analysis.halflife import Level, Passing, cut, fit, followed_in, half_life_text
from convergebench.analysis.paired import compare_paired, smallest_p, sources_needed
from convergebench.analysis.permutation import holm
from convergebench.analysis.places import place_range
from convergebench.analysis.result import AnalysisSettings
from convergebench.analysis.schemas import table
from convergebench.analysis.settling import commonest
from convergebench.analysis.standing import Standing
from convergebench.analysis.survival import median, restricted_mean
from convergebench.analysis.trajectories import Mask

RANKS = {"score": "rank", "quality": "quality_rank", "semantic": "semantic_rank"}


@dataclass(frozen=True, slots=True)
class Beside:
    """What is printed beside the score, per chain: half-life, usable rounds, verdict; and the resampled places."""

    headline: Level | None
    in_use: Passing
    verdicts: pl.Series
    places: pl.DataFrame
    simulated: frozenset[str]


def ranking(
    held: Contest, standings: Sequence[Standing], common: Bout, beside: Beside, settings: AnalysisSettings
) -> pl.DataFrame:
    """The frame `ranking`: ranked editors best first, then the others by their score."""
    bootstrap = Bootstrap.of(settings)
    horizon = common_horizon(held, standings, beside.headline)
    rows = []
    for one in standings:
        bout = bout_of(held, one, common)
        own = held.data.of(one.editor)
        rows.append(
            {
                **{"editor": one.editor, "simulated": one.editor in beside.simulated, "reference": one.reference},
                **{"coverage": one.coverage, "usable_share": one.delivered},
                **_counts(held, bout, own, one.editor),
                **(_scores(held, bout, one.editor, bootstrap) if bout.horizon.size else {}),
                **_half_life(held, own, beside.headline, horizon, settings.confidence),
                "usable": _usable(held, own, beside, settings.confidence),
                "verdict": commonest(beside.verdicts.filter(pl.Series(own)).to_list()),
                **dict(zip(("rank_low", "rank_high"), _places(beside, one, settings), strict=True)),
            }
        )
    frame = table("ranking", rows)
    ranked = pl.col("editor").is_in([one.editor for one in standings if one.ranked])
    return frame.with_columns(ranks(ranked)).sort(
        "rank", pl.col("score").fill_null(-1).neg(), nulls_last=True, maintain_order=True
    )


def ranks(ranked: pl.Expr, named: Mapping[str, str] = RANKS) -> list[pl.Expr]:
    """A rank per dimension, among ranked editors only."""
    # values that differ in the tenth digit only differ by the order of a summation
    return [
        pl.when(ranked).then(pl.col(of)).round(9).rank("min", descending=True).cast(pl.Int64).alias(to)
        for of, to in named.items()
    ]


def bout_of(held: Contest, one: Standing, common: Bout) -> Bout:
    """The cases on which an editor is scored: the common ones, or what it has of them; alone, all of its own."""
    if one.ranked:
        return common
    return held.bout([one.editor], within=common if common.horizon.size else None)


def pairwise(held: Contest, order: Sequence[str], settings: AnalysisSettings) -> pl.DataFrame:
    """The frame `pairwise`: every two ranked editors, the better first, Holm over all of them."""
    pairs = list(combinations(order, 2))
    rows = [row for pair in pairs if (row := _pair(held, pair, len(pairs), settings))]
    adjusted = holm([float(str(row["p"])) for row in rows])
    for row, p in zip(rows, adjusted, strict=True):
        row.update({"p_holm": p, "significant": p < 1 - settings.confidence})
    return table("pairwise", rows)


def common_horizon(held: Contest, standings: Sequence[Standing], level: Level | None) -> int | None:
    """The rounds over which half-lives are compared: the most that every ranked editor was followed for."""
    if level is None:
        return None
    ends = [followed_in(held.data, level.cases, held.data.of(one.editor)) for one in standings if one.ranked]
    return min(ends, default=None)


def _pair(held: Contest, pair: tuple[str, str], pairs: int, settings: AnalysisSettings) -> dict[str, object]:
    bout = held.bout(pair)
    if not bout.horizon.size:
        return {}
    one, other = (held.features(bout, editor) for editor in pair)
    found = compare_paired(
        one,
        other,
        held.score.value,
        exact_up_to=settings.exact_sources,
        permutations=settings.permutations,
        seed=settings.seed,
        confidence=settings.confidence,
    )
    low, high = (found.low, found.high) if found.difference >= 0 else (-found.high, -found.low)
    better, worse = pair if found.difference >= 0 else pair[::-1]
    needed = sources_needed(abs(found.difference), found.spread, confidence=settings.confidence, pairs=pairs)
    least = smallest_p(found.n_sources, exact_up_to=settings.exact_sources, permutations=settings.permutations)
    return {
        **{"better": better, "worse": worse, "difference": abs(found.difference), "low": low, "high": high},
        **{"p": found.p, "exact": found.exact, "n_cases": int(bout.horizon.size), "n_sources": found.n_sources},
        **{"rounds": int(bout.horizon.max()), "spread": found.spread, "needed": needed, "smallest_p": least},
    }


def _scores(held: Contest, bout: Bout, editor: str, bootstrap: Bootstrap) -> dict[str, object]:
    features, plain = held.features(bout, editor), held.closeness(bout, editor)
    band = bootstrap.statistic(features, held.score.value, bounds=(0, 100))
    quality = bootstrap.statistic(features, lambda totals: held.score.parts(totals)[0], bounds=(0, 1))
    semantic = bootstrap.statistic(features, lambda totals: held.score.parts(totals)[1], bounds=(0, 1))
    close = bootstrap.statistic(plain, held.score.value, bounds=(0, 100))
    few = features.shape[0] < FEWEST_SOURCES
    return {
        "values": ", ".join(f"{held.score.value(one):.1f}" for one in features) if few else None,
        **{"score": band.estimate[0], "low": band.low[0], "high": band.high[0]},
        **{"quality": quality.estimate[0], "quality_low": quality.low[0], "quality_high": quality.high[0]},
        **{"semantic": semantic.estimate[0], "semantic_low": semantic.low[0], "semantic_high": semantic.high[0]},
        **{"closeness": close.estimate[0], "closeness_low": close.low[0], "closeness_high": close.high[0]},
        **_adherence(held, bout, editor),
    }


def _adherence(held: Contest, bout: Bout, editor: str) -> dict[str, object]:
    read = held.adhered.done[bout.of(editor)]
    told = not np.isnan(read).all()
    return {
        "adherence": float(held.adherence(bout, editor).mean()),
        "done": float(held.done(bout, editor).mean()) if told else None,
        "undone": held.undone(bout, editor),
    }


def _counts(held: Contest, bout: Bout, own: Mask, editor: str) -> dict[str, int]:
    status = held.data.chains["status"].filter(pl.Series(own)).to_list()
    gone = [missing(held.data, name)[own] for name in held.score.metrics]
    lost = [held.data.lost[name][own] for name in held.score.metrics]
    used = bout.horizon.size if editor in bout.editors else 0
    return {
        "n_cases": int(used),
        "n_sources": int(np.unique(bout.source).size) if used else 0,
        "n_chains": len(status),
        "n_left_out": len(status) - int(used),
        "n_missing": int(np.any(gone, axis=0).sum()) if gone else 0,
        "n_lost": int(np.any(lost, axis=0).sum()) if lost else 0,
        **{f"n_{word}": status.count(word) for word in ("finished", "refused", "failed")},
    }


def _half_life(
    held: Contest, own: Mask, level: Level | None, horizon: int | None, confidence: float
) -> dict[str, object]:
    """Half-life at the headline level, on every case that has the metric, up to the common horizon."""
    if level is None:
        return {}
    rows = own & (level.cases.rounds > 0)
    seen = followed_in(held.data, level.cases, rows)
    if not rows.any() or not seen:
        return {}
    until = seen if horizon is None else min(seen, horizon)
    curve = fit(held.data, cut(level.cases, until), rows, confidence=confidence)
    middle, (mean, _) = median(curve), restricted_mean(curve)
    return {
        **{"half_life": half_life_text(middle, until), "half_life_median": middle.value, "followed": until},
        **{"half_life_low": middle.low, "half_life_high": middle.high, "restricted_mean": mean},
        **{"half_life_events": int(curve.events.sum()), "half_life_cases": int(rows.sum())},
    }


def _usable(held: Contest, own: Mask, beside: Beside, confidence: float) -> str:
    """The median of usable rounds, on all of an editor's cases."""
    curve = fit(held.data, beside.in_use, own, confidence=confidence)
    return half_life_text(median(curve), restricted_mean(curve)[1])


def _places(beside: Beside, one: Standing, settings: AnalysisSettings) -> tuple[int | None, int | None]:
    return place_range(beside.places, one.editor, settings.confidence) if one.ranked else (None, None)


def features_of(held: Contest, common: Bout) -> Mapping[str, np.ndarray]:
    """Per ranked editor its sums per source on the common cases."""
    return {editor: held.features(common, editor) for editor in common.editors}
