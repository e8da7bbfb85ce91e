"""What the constants of the analysis must be: asked before the first call is paid for, and again by the analysis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite

from convergebench.analysis.result import AnalysisSettings
from convergebench.analysis.retention import has_retention, levels, passed_by
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts
from convergebench.registry import suggest

COUNTS = ("draws", "chain_draws", "permutations")


def require_sound(settings: AnalysisSettings, facts: Mapping[str, MetricFacts]) -> None:
    """Refuse constants without a meaning; `facts` are those of the metrics that are known."""
    _check(settings)
    _check_areas(settings, facts)
    for one in facts.values():
        levels(one, settings)


def require_planned(settings: AnalysisSettings, facts: Mapping[str, MetricFacts]) -> None:
    """The same and more, of a study that has not begun: every metric that it names is known and can do its part."""
    for key, name in named_metrics(settings):
        if name not in facts:
            raise StudyError(f"{key} = '{name}': unknown metric{suggest(name, facts)} (cbench list metrics)")
    require_sound(settings, facts)
    _require_directions(settings, facts)
    require_level(settings, levels(facts[settings.headline], settings))
    for name in settings.levels:
        _require_order(facts[name], levels(facts[name], settings))


def named_metrics(settings: AnalysisSettings) -> Iterator[tuple[str, str]]:
    """(key, metric) of every metric that the constants name."""
    yield from (("analysis.quality", name) for name in settings.quality)
    yield from (("analysis.adherence", name) for name in settings.adherence)
    yield from (("analysis.levels", name) for name in settings.levels)
    yield from (("analysis.headline", settings.headline), ("analysis.distance", settings.distance))
    if settings.semantic:
        yield "analysis.semantic", settings.semantic
    if settings.onset:
        yield "analysis.onset", settings.onset


def unmeasured(settings: AnalysisSettings, measured: Iterable[str]) -> list[str]:
    """A line per metric that the study names on its own account and does not measure."""
    usual, known = set(named_metrics(AnalysisSettings())), set(measured)
    return [
        f"{key} = '{name}' is not among the metrics that are measured; to add it: cbench measure RUN --metric {name}"
        for key, name in dict.fromkeys(named_metrics(settings))
        if (key, name) not in usual and name.removesuffix("-first") not in known
    ]


def require_level(settings: AnalysisSettings, known: Mapping[str, float]) -> None:
    """The level of the half-life sentence is one that its metric has."""
    if settings.level in known:
        return
    there = f"{settings.headline} has {', '.join(known) or 'no level'}{suggest(settings.level, known)}"
    choose = "choose one or add" if known else "add"
    raise StudyError(f"level = '{settings.level}': {there}; {choose} levels.{settings.headline}.{settings.level}")


def _require_directions(settings: AnalysisSettings, facts: Mapping[str, MetricFacts]) -> None:
    """Distances, onsets and answers about edits come from metrics of their own kinds."""
    far = facts[settings.distance]
    if far.self_value != 0 or far.better != "lower" or "lag" not in far.roles:
        raise StudyError(f"distance = '{far.name}': it is no distance that is measured between rounds; try rmse")
    for key, name in (*(("quality", one) for one in settings.quality), ("semantic", settings.semantic)):
        if name and not {"return", "first", "around"} & set(facts[name].roles):
            raise StudyError(f"{key} = '{name}': it does not compare a round with the source; try ssim or gist")
    if settings.onset and facts[settings.onset].better == "neither":
        raise StudyError(f"onset = '{settings.onset}': it has no better direction, so nothing can be lost by it")
    for name in settings.adherence:
        if facts[name].kind != "adherence":
            able = ", ".join(one for one, fact in facts.items() if fact.kind == "adherence")
            raise StudyError(f"adherence = '{name}': it does not say whether an edit was done; choose from {able}")


def _require_order(facts: MetricFacts, known: Mapping[str, float]) -> None:
    """Half is lost after a loss can be noticed, not before."""
    if "noticeable" in known and "half" in known and passed_by(known["noticeable"], known["half"], facts):
        raise StudyError(
            f"levels.{facts.name}: noticeable ({known['noticeable']:g}) lies beyond half ({known['half']:g}); "
            "give both, the milder one as noticeable"
        )


def _check_areas(settings: AnalysisSettings, facts: Mapping[str, MetricFacts]) -> None:
    """A metric without retention has no area, so it cannot be a part of the score."""
    asked = [("quality", name) for name in settings.quality] + [("semantic", settings.semantic or "")]
    for key, name in asked:
        if name in facts and not has_retention(facts[name]):
            able = [other for other in facts if has_retention(facts[other])]
            raise StudyError(f"{key} = '{name}': it has no area; choose from {', '.join(able) or 'ssim, lpips'}")


def _check(settings: AnalysisSettings) -> None:
    if not 0 <= settings.coverage <= 1:
        raise StudyError(f"coverage = {settings.coverage}: give a share between 0 and 1, such as 0.8")
    if len(settings.adherence) != 2:
        raise StudyError('adherence: give two metrics, e.g. ["happened", "undone"]')
    if not 0 < settings.confidence < 1:
        raise StudyError(f"confidence = {settings.confidence}: give a share between 0 and 1, such as 0.95")
    if settings.seed < 0:
        raise StudyError(f"seed = {settings.seed}: give 0 or more")
    for name in COUNTS:
        if getattr(settings, name) < 1:
            raise StudyError(f"{name} = {getattr(settings, name)}: give at least 1 (2000 is usual)")
    if settings.max_period < 1:
        raise StudyError(f"max_period = {settings.max_period}: give at least 1")
    if not 0 <= settings.exact_sources <= 20:
        raise StudyError(f"exact_sources = {settings.exact_sources}: give 0 to 20 (2^K swaps are enumerated)")
    if not (settings.floor >= 0 and isfinite(settings.floor)):
        raise StudyError(f"floor = {settings.floor}: give a distance of 0 or more")
