"""Checks of the analysis settings, made before the first paid call and again by the analysis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from convergebench.analysis.retention import has_retention, levels, passed_by
from convergebench.analysis.series import without_first
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts
from convergebench.registry import suggest
from convergebench.studies.analysis_settings import AnalysisSettings


def require_valid(settings: AnalysisSettings, facts: Mapping[str, MetricFacts]) -> None:
    """Reject metrics and levels that do not fit their use; `facts` are those of the known metrics."""
    _check_areas(settings, facts)
    for one in facts.values():
        levels(one, settings)


def require_planned(settings: AnalysisSettings, facts: Mapping[str, MetricFacts]) -> None:
    """Stricter, for a study that has not begun: every metric that it names is known and fits its use."""
    for key, name in named_metrics(settings):
        if name not in facts:
            raise StudyError(f"{key} = '{name}': unknown metric{suggest(name, facts)} (cbench list metrics)")
    require_valid(settings, facts)
    _require_directions(settings, facts)
    require_level(settings, levels(facts[settings.headline], settings))
    for name in settings.levels:
        _require_order(facts[name], levels(facts[name], settings))


def named_metrics(settings: AnalysisSettings) -> Iterator[tuple[str, str]]:
    """(key, metric) of every metric that the settings name."""
    yield from (("analysis.quality", name) for name in settings.quality)
    yield from (("analysis.adherence", name) for name in settings.adherence)
    yield from (("analysis.levels", name) for name in settings.levels)
    yield from (("analysis.headline", settings.headline), ("analysis.distance", settings.distance))
    if settings.semantic:
        yield "analysis.semantic", settings.semantic
    if settings.onset:
        yield "analysis.onset", settings.onset


def unmeasured(settings: AnalysisSettings, measured: Iterable[str]) -> list[str]:
    """A line per metric that the study file names (other than by default) and does not measure."""
    default, known = set(named_metrics(AnalysisSettings())), set(measured)
    return [
        f"{key} = '{name}' is not among the metrics that are measured; to add it: cbench measure RUN --metric {name}"
        for key, name in dict.fromkeys(named_metrics(settings))
        if (key, name) not in default and without_first(name) not in known
    ]


def require_level(settings: AnalysisSettings, known: Mapping[str, float]) -> None:
    """Reject a headline level that the headline metric does not have."""
    if settings.level in known:
        return
    there = f"{settings.headline} has {', '.join(known) or 'no level'}{suggest(settings.level, known)}"
    choose = "choose one or add" if known else "add"
    raise StudyError(f"level = '{settings.level}': {there}; {choose} levels.{settings.headline}.{settings.level}")


def _require_directions(settings: AnalysisSettings, facts: Mapping[str, MetricFacts]) -> None:
    """Reject a distance, onset, score or adherence metric of the wrong kind."""
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
    """Reject a `half` level that is milder than `noticeable`."""
    if "noticeable" in known and "half" in known and passed_by(known["noticeable"], known["half"], facts):
        raise StudyError(
            f"levels.{facts.name}: noticeable ({known['noticeable']:g}) lies beyond half ({known['half']:g}); "
            "give both, the milder one as noticeable"
        )


def _check_areas(settings: AnalysisSettings, facts: Mapping[str, MetricFacts]) -> None:
    """Reject score metrics without retention: they have no area."""
    asked = [("quality", name) for name in settings.quality] + [("semantic", settings.semantic or "")]
    for key, name in asked:
        if name in facts and not has_retention(facts[name]):
            able = [other for other in facts if has_retention(facts[other])]
            raise StudyError(f"{key} = '{name}': it has no area; choose from {', '.join(able) or 'ssim, lpips'}")
