"""The analysis from end to end: arrange, estimate, compare, say it in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from convergebench.analysis import headline as words
from convergebench.analysis.adherence import adherence_table
from convergebench.analysis.area import areas, auc_table
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.compare import Beside, Contest, contest, pairwise, ranking
from convergebench.analysis.curves import curves
from convergebench.analysis.floors import floor_table
from convergebench.analysis.halflife import Level, case_table, find_levels, half_life_table, survival_table, usable
from convergebench.analysis.result import ANALYSIS_VERSION, Analysis, AnalysisInput, AnalysisSettings
from convergebench.analysis.retention import has_retention
from convergebench.analysis.score import make_score
from convergebench.analysis.settling import contraction_table, verdict_table
from convergebench.analysis.shapes import shape_table
from convergebench.analysis.tallies import diagnostics_table, outcomes_table
from convergebench.analysis.trajectories import Trajectories, trajectories, typed
from convergebench.analysis.worst import worst_table
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts
from convergebench.registry import suggest


def analyse(given: AnalysisInput, settings: AnalysisSettings) -> Analysis:
    """Every number the report shows, from the measurements and chains of a run. Same input and seed, same output."""
    _check(settings)
    _check_areas(settings, given.facts)
    data = trajectories(given)
    bootstrap = Bootstrap.of(settings)
    found = areas(data)
    levels = find_levels(data, settings)
    headline = _headline_level(levels, settings)
    in_use = usable(data, headline)
    score = make_score(found, settings)
    held = contest(data, score)
    settled = contraction_table(data, settings, deterministic=given.deterministic)
    beside = Beside(headline, in_use, settled["verdict"], given.simulated)
    ranked = ranking(data, held, beside, bootstrap=bootstrap)
    result = Analysis(
        settings=settings,
        version=ANALYSIS_VERSION,
        headline=(),
        formula=score.formula,
        ranking=ranked,
        pairwise=pairwise(held, ranked, settings),
        curves=curves(data, bootstrap),
        auc=auc_table(data, found, bootstrap),
        half_life=half_life_table(data, levels, in_use=in_use, confidence=settings.confidence),
        half_life_cases=case_table(data, levels),
        survival=survival_table(data, levels, in_use=in_use, confidence=settings.confidence),
        shapes=shape_table(data, settings.distance),
        contraction=settled,
        verdicts=verdict_table(settled, data.editors),
        adherence=adherence_table(data, given.measurements, bootstrap),
        diagnostics=diagnostics_table(typed(given.measurements, "measurements"), given.facts),
        worst=worst_table(data, found, metric=settings.headline, level=headline, verdicts=settled["verdict"]),
        floors=floor_table(data, tuple(found), settings.floors, bootstrap),
        outcomes=outcomes_table(data.chains),
    )
    return replace(result, headline=_sentences(data, held, headline, result, given))


def _sentences(
    data: Trajectories, held: Contest, level: Level | None, result: Analysis, given: AnalysisInput
) -> tuple[str, ...]:
    """The headline: the half-life first, or why there is none."""
    settings = result.settings
    if not data.values or not data.horizon:
        return (words.NOTHING,)
    found = words.standings(data, held, level, settings.confidence) if level else []
    sentences: list[str | None] = []
    if level and found:
        rows = held.common if held.ranked else np.ones(data.chains.height, dtype=np.bool_)
        sentences.append(words.half_life_sentence(found, settings.confidence, given.unit))
        mine = rows & data.of(found[0].editor)
        better = data.facts[level.metric].better
        sources = int(np.unique(data.source[mine]).size)
        sentences.append(words.meaning(level, better, cases=int(mine.sum()), sources=sources))
    else:
        sentences.append(f"{settings.headline} was not measured, so there is no half-life to report.")
    order = [one.editor for one in found]
    sentences += [
        words.score_sentence(result.ranking, result.pairwise, settings.confidence),
        # what the score does not cover comes right behind it: a page may print the first few sentences only
        words.unmeasured_sentence(result.ranking, score=held.score.metrics),
        words.shortened_sentence(data, held),
        words.left_out_sentence(data.chains),
        words.settling_sentence(result.verdicts, [*order[:1], *order[-1:]]),
        words.hardest_sentence(result.auc, settings, given.unit),
        words.simulated_sentence(data.editors, given.simulated),
        words.copying_sentence(data.editors, given.uninstructed),
    ]
    return tuple(sentence for sentence in sentences if sentence)


def _headline_level(levels: list[Level], settings: AnalysisSettings) -> Level | None:
    """The level of the half-life sentence; None if its metric was not measured, an error if it lacks the level."""
    own = {level.name: level for level in levels if level.metric == settings.headline}
    if own and settings.level not in own:
        known = ", ".join(own)
        raise StudyError(
            f"level = '{settings.level}': {settings.headline} has {known}{suggest(settings.level, own)}; "
            f"choose one or add levels.{settings.headline}.{settings.level}"
        )
    return own.get(settings.level)


def _check_areas(settings: AnalysisSettings, facts: Mapping[str, MetricFacts]) -> None:
    """A metric without retention has no area, so it cannot be a part of the score."""
    asked = [("quality", name) for name in settings.quality] + [("semantic", settings.semantic or "")]
    for key, name in asked:
        if name in facts and not has_retention(facts[name]):
            able = [other for other in facts if has_retention(facts[other])]
            raise StudyError(f"{key} = '{name}': it has no area; choose from {', '.join(able) or 'ssim, lpips'}")


def _check(settings: AnalysisSettings) -> None:
    if not 0 < settings.confidence < 1:
        raise StudyError(f"confidence = {settings.confidence}: give a share between 0 and 1, such as 0.95")
    for name in ("draws", "chain_draws", "permutations"):
        if getattr(settings, name) < 1:
            raise StudyError(f"{name} = {getattr(settings, name)}: give at least 1 (2000 is usual)")
    if settings.max_period < 1:
        raise StudyError(f"max_period = {settings.max_period}: give at least 1")
    if not 0 <= settings.exact_sources <= 20:
        raise StudyError(f"exact_sources = {settings.exact_sources}: give 0 to 20 (2^K swaps are enumerated)")
    if not settings.floor >= 0:
        raise StudyError(f"floor = {settings.floor}: give a distance of 0 or more")
