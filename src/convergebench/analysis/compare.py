"""The ranking and its pairwise tests.

Ranked editors are scored on the cases that all of them have (`common_cases` defines the rounds). An editor without a
rank is scored on those of these cases that it has. Differences are paired: each two ranked editors on the cases that
both have, with an interval and a test that agree, Holm over all pairs. Equal scores share a rank. `n_left_out` counts
the editor's chains that are not compared; `n_missing` rounds that were not measured by a metric of the score; `n_lost`
rounds whose picture cannot be measured because of what the editor did to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from convergebench.analysis.area import missing
from convergebench.analysis.bootstrap import FEWEST_SOURCES, Bootstrap
from convergebench.analysis.common_cases import CommonCases, EditorComparison
from convergebench.analysis.halflife import Level, LevelPassing, cut, fit, followed, half_life_text
from convergebench.analysis.paired import compare_paired, smallest_p, sources_needed
from convergebench.analysis.permutation import holm
from convergebench.analysis.places import place_range
from convergebench.analysis.schemas import table
from convergebench.analysis.settling import commonest
from convergebench.analysis.standing import Standing
from convergebench.analysis.survival import median, restricted_mean
from convergebench.analysis.trajectories import Mask
from convergebench.studies.analysis_settings import AnalysisSettings

RANKS = {"score": "rank", "quality": "quality_rank", "semantic": "semantic_rank"}


@dataclass(frozen=True, slots=True)
class ShownBeside:
    """What the ranking shows beside the score: half-life, usable rounds, verdicts and resampled places."""

    headline: Level | None
    in_use: LevelPassing
    verdicts: pl.Series
    places: pl.DataFrame
    simulated: frozenset[str]


def ranking(
    comparison: EditorComparison,
    standings: Sequence[Standing],
    common: CommonCases,
    beside: ShownBeside,
    settings: AnalysisSettings,
) -> pl.DataFrame:
    """The frame `ranking`: ranked editors best first, then the others by their score."""
    bootstrap = Bootstrap.of(settings)
    horizon = common_horizon(comparison, standings, beside.headline)
    rows = []
    for one in standings:
        cases = cases_for(comparison, one, common)
        own = comparison.data.of(one.editor)
        rows.append(
            {
                **{"editor": one.editor, "simulated": one.editor in beside.simulated, "reference": one.reference},
                **{"coverage": one.coverage, "usable_share": one.delivered},
                **_counts(comparison, cases, own, one.editor),
                **(_scores(comparison, cases, one.editor, bootstrap) if cases.horizon.size else {}),
                **_half_life(comparison, own, beside.headline, horizon, settings.confidence),
                "usable": _usable(comparison, own, beside, settings.confidence),
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


def cases_for(comparison: EditorComparison, one: Standing, common: CommonCases) -> CommonCases:
    """The cases on which an editor is scored: of the common ones those it has; all its own where there are none."""
    if one.ranked:
        return common
    return comparison.common_cases([one.editor], within=common if common.horizon.size else None)


def pairwise(comparison: EditorComparison, order: Sequence[str], settings: AnalysisSettings) -> pl.DataFrame:
    """The frame `pairwise`: every two ranked editors, the better first, Holm over all of them."""
    pairs = list(combinations(order, 2))
    rows = [row for pair in pairs if (row := _pair(comparison, pair, len(pairs), settings))]
    adjusted = holm([float(str(row["p"])) for row in rows])
    for row, p in zip(rows, adjusted, strict=True):
        row.update({"p_holm": p, "significant": p < 1 - settings.confidence})
    return table("pairwise", rows)


def common_horizon(comparison: EditorComparison, standings: Sequence[Standing], level: Level | None) -> int | None:
    """The rounds over which half-lives are compared: the most that every ranked editor was followed for."""
    if level is None:
        return None
    data = comparison.data
    return min((followed(data, level.cases, data.of(one.editor)) for one in standings if one.ranked), default=None)


def _pair(
    comparison: EditorComparison, pair: tuple[str, str], pairs: int, settings: AnalysisSettings
) -> dict[str, object]:
    cases = comparison.common_cases(pair)
    if not cases.horizon.size:
        return {}
    one, other = (comparison.features(cases, editor) for editor in pair)
    found = compare_paired(
        one,
        other,
        comparison.score.value,
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
        **{"p": found.p, "exact": found.exact, "n_cases": int(cases.horizon.size), "n_sources": found.n_sources},
        **{"rounds": int(cases.horizon.max()), "spread": found.spread, "needed": needed, "smallest_p": least},
    }


def _scores(comparison: EditorComparison, cases: CommonCases, editor: str, bootstrap: Bootstrap) -> dict[str, object]:
    features, plain = comparison.features(cases, editor), comparison.closeness(cases, editor)
    band = bootstrap.statistic(features, comparison.score.value, bounds=(0, 100))
    quality = bootstrap.statistic(features, lambda totals: comparison.score.parts(totals)[0], bounds=(0, 1))
    semantic = bootstrap.statistic(features, lambda totals: comparison.score.parts(totals)[1], bounds=(0, 1))
    close = bootstrap.statistic(plain, comparison.score.value, bounds=(0, 100))
    few = features.shape[0] < FEWEST_SOURCES
    return {
        "values": ", ".join(f"{comparison.score.value(one):.1f}" for one in features) if few else None,
        **{"score": band.estimate[0], "low": band.low[0], "high": band.high[0]},
        **{"quality": quality.estimate[0], "quality_low": quality.low[0], "quality_high": quality.high[0]},
        **{"semantic": semantic.estimate[0], "semantic_low": semantic.low[0], "semantic_high": semantic.high[0]},
        **{"closeness": close.estimate[0], "closeness_low": close.low[0], "closeness_high": close.high[0]},
        **_adherence(comparison, cases, editor),
    }


def _adherence(comparison: EditorComparison, cases: CommonCases, editor: str) -> dict[str, object]:
    read = comparison.adhered.done[cases.of(editor)]
    known = not np.isnan(read).all()
    return {
        "adherence": float(comparison.adherence(cases, editor).mean()),
        "done": float(comparison.done(cases, editor).mean()) if known else None,
        "undone": comparison.undone(cases, editor),
    }


def _counts(comparison: EditorComparison, cases: CommonCases, own: Mask, editor: str) -> dict[str, int]:
    status = comparison.data.chains["status"].filter(pl.Series(own)).to_list()
    gone = [missing(comparison.data, name)[own] for name in comparison.score.metrics]
    lost = [comparison.data.lost[name][own] for name in comparison.score.metrics]
    used = cases.horizon.size if editor in cases.editors else 0
    return {
        "n_cases": int(used),
        "n_sources": int(np.unique(cases.source).size) if used else 0,
        "n_chains": len(status),
        "n_left_out": len(status) - int(used),
        "n_missing": int(np.any(gone, axis=0).sum()) if gone else 0,
        "n_lost": int(np.any(lost, axis=0).sum()) if lost else 0,
        **{f"n_{word}": status.count(word) for word in ("finished", "refused", "failed")},
    }


def _half_life(
    comparison: EditorComparison, own: Mask, level: Level | None, horizon: int | None, confidence: float
) -> dict[str, object]:
    """Half-life at the headline level, on every case that has the metric, up to the common horizon."""
    if level is None:
        return {}
    rows = own & (level.cases.rounds > 0)
    seen = followed(comparison.data, level.cases, rows)
    if not rows.any() or not seen:
        return {}
    until = seen if horizon is None else min(seen, horizon)
    curve = fit(comparison.data, cut(level.cases, until), rows, confidence=confidence)
    middle, (mean, _) = median(curve), restricted_mean(curve)
    return {
        **{"half_life": half_life_text(middle, until), "half_life_median": middle.value, "followed": until},
        **{"half_life_low": middle.low, "half_life_high": middle.high, "restricted_mean": mean},
        **{"half_life_events": int(curve.events.sum()), "half_life_cases": int(rows.sum())},
    }


def _usable(comparison: EditorComparison, own: Mask, beside: ShownBeside, confidence: float) -> str:
    """The median number of usable rounds, over all cases of an editor."""
    curve = fit(comparison.data, beside.in_use, own, confidence=confidence)
    return half_life_text(median(curve), restricted_mean(curve)[1])


def _places(beside: ShownBeside, one: Standing, settings: AnalysisSettings) -> tuple[int | None, int | None]:
    return place_range(beside.places, one.editor, settings.confidence) if one.ranked else (None, None)


def features_of(comparison: EditorComparison, common: CommonCases) -> Mapping[str, np.ndarray]:
    """The features of every ranked editor on the common cases."""
    return {editor: comparison.features(common, editor) for editor in common.editors}
