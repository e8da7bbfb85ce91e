"""The analysis part `comparison` from end to end: arrange, estimate, compare, write the headline."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from convergebench.analysis import headline as words
from convergebench.analysis.adherence import adherence_table, rounds_adhered
from convergebench.analysis.area import areas, auc_table
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.common_cases import EditorComparison, make_comparison
from convergebench.analysis.compare import ShownBeside, cases_for, features_of, pairwise, ranking, ranks
from convergebench.analysis.contrast import contrast_sentences
from convergebench.analysis.curves import curves
from convergebench.analysis.floors import floor_table
from convergebench.analysis.halflife import Level, case_table, find_levels, half_life_table, survival_table, usable
from convergebench.analysis.places import place_table
from convergebench.analysis.requirements import require_level, require_valid
from convergebench.analysis.result import ANALYSIS_VERSION, Analysis, AnalysisInput
from convergebench.analysis.score import make_score
from convergebench.analysis.settling import contraction_table, verdict_table
from convergebench.analysis.shapes import shape_table
from convergebench.analysis.standing import standings
from convergebench.analysis.tallies import diagnostics_table, outcomes_table
from convergebench.analysis.trajectories import Trajectories, trajectories, typed
from convergebench.analysis.worst import worst_table
from convergebench.studies.analysis_settings import AnalysisSettings


def analyse(given: AnalysisInput, settings: AnalysisSettings) -> Analysis:
    """Every number the report shows, from the measurements and chains of a run. Deterministic for a given seed."""
    require_valid(settings, given.facts)
    data = trajectories(given)
    bootstrap = Bootstrap.of(settings)
    found = areas(data)
    levels = find_levels(data, settings)
    headline = _headline_level(levels, settings)
    in_use = usable(data, headline)
    adhered = rounds_adhered(data, given.measurements, settings, uninstructed=given.uninstructed)
    score = make_score(found, settings, adhered=adhered.measured)
    comparison = make_comparison(data, score, adhered)
    standing = standings(data, given, settings, comparison.known)
    common = comparison.common_cases([one.editor for one in standing if one.ranked])
    places = place_table(features_of(comparison, common), score, settings)
    settled = contraction_table(data, settings, deterministic=given.deterministic)
    beside = ShownBeside(headline, in_use, settled["verdict"], places, given.simulated)
    ranked = ranking(comparison, standing, common, beside, settings)
    order = ranked.filter(pl.col("rank").is_not_null())["editor"].to_list()
    result = Analysis(
        settings=settings,
        version=ANALYSIS_VERSION,
        headline=(),
        formula=score.formula,
        ranking=ranked,
        pairwise=pairwise(comparison, order, settings),
        places=places,
        curves=curves(data, bootstrap),
        auc=auc_table(data, found, bootstrap),
        half_life=half_life_table(data, levels, in_use=in_use, ranked=order, confidence=settings.confidence),
        half_life_cases=case_table(data, levels),
        survival=survival_table(data, levels, in_use=in_use, confidence=settings.confidence),
        shapes=shape_table(data, settings.distance),
        contraction=settled,
        verdicts=verdict_table(settled, data.editors, bootstrap),
        adherence=adherence_table(data, given.measurements, bootstrap),
        diagnostics=diagnostics_table(typed(given.measurements, "measurements"), given.facts),
        worst=worst_table(data, found, metric=settings.headline, level=headline, verdicts=settled["verdict"]),
        floors=floor_table(data, tuple(found), settings.floors, bootstrap),
        outcomes=outcomes_table(data.chains),
    )
    return replace(result, headline=_sentences(data, comparison, headline, result, given))


def rank_only(given: AnalysisInput, settings: AnalysisSettings) -> pl.DataFrame:
    """The order alone, without intervals: editor, rank, score, n_cases. For the sensitivity analysis."""
    data = trajectories(given)
    adhered = rounds_adhered(data, given.measurements, settings, uninstructed=given.uninstructed)
    comparison = make_comparison(data, make_score(areas(data), settings, adhered=adhered.measured), adhered)
    standing = standings(data, given, settings, comparison.known)
    common = comparison.common_cases([one.editor for one in standing if one.ranked])
    rows = []
    for one in standing:
        cases = cases_for(comparison, one, common)
        totals = comparison.features(cases, one.editor).sum(axis=0) if cases.horizon.size else None
        score = None if totals is None or not comparison.score.metrics else float(comparison.score.value(totals))
        rows.append({"editor": one.editor, "score": score, "n_cases": int(cases.horizon.size)})
    schema = {"editor": pl.String, "score": pl.Float64, "n_cases": pl.Int64}
    ranked = pl.col("editor").is_in([one.editor for one in standing if one.ranked])
    frame = pl.DataFrame(rows, schema=schema).with_columns(ranks(ranked, {"score": "rank"}))
    return frame.sort("rank", nulls_last=True, maintain_order=True)


def _sentences(
    data: Trajectories, comparison: EditorComparison, level: Level | None, result: Analysis, given: AnalysisInput
) -> tuple[str, ...]:
    """The headline: the tested contrast first, then what qualifies it."""
    settings, unit = result.settings, given.unit
    if not data.values or not data.horizon:
        return (words.NOTHING,)
    order = result.ranking["editor"].to_list()
    ranked = result.ranking.filter(pl.col("rank").is_not_null())["editor"].to_list()
    life = None
    if level and result.ranking["half_life"].count():
        life = words.half_life_sentence(result.ranking, level, data.facts[level.metric].better, settings, unit)
    sentences = [
        *contrast_sentences(result.ranking, result.pairwise, settings, unit),
        # limits of the score come right after it: a page may print the first few sentences only
        words.never_sentence(result.adherence, [one for one in order if one not in given.uninstructed], settings),
        words.coverage_sentence(result.ranking, settings, unit),
        words.lost_sentence(result.ranking),
        life or f"{settings.headline} was not measured, so there is no half-life to report.",
        words.shorter_sentence(result.ranking, unit),
        words.unmeasured_sentence(result.ranking, unit, score=comparison.score.metrics),
        words.left_out_sentence(result.ranking),
        words.settling_sentence(result.verdicts, [*order[:1], *order[-1:]]),
        words.hardest_sentence(result.auc, settings, unit),
        words.simulated_sentence(data.editors, ranked, given.simulated),
        words.copying_sentence(data.editors, given.uninstructed),
    ]
    return tuple(sentence for sentence in sentences if sentence)


def _headline_level(levels: list[Level], settings: AnalysisSettings) -> Level | None:
    """The level of the half-life sentence; None if its metric was not measured, an error if it lacks the level."""
    own = {level.name: level for level in levels if level.metric == settings.headline}
    if own:
        require_level(settings, {name: level.threshold for name, level in own.items()})
    return own.get(settings.level)
