"""What can be refused before the first call is paid for: constants, names, missing keys, packages and weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from convergebench.analysis import AnalysisSettings
from convergebench.analysis.decay import with_step_1
from convergebench.analysis.requirements import named_metrics, require_planned, unmeasured
from convergebench.analysis.series import without_first
from convergebench.editors.base import lacks, notices
from convergebench.engine.prepared import Prepared
from convergebench.errors import Prerequisite, StudyError
from convergebench.metrics import load_metric
from convergebench.metrics.base import MetricFacts
from convergebench.metrics.readiness import require
from convergebench.registry import names, require_part, suggest
from convergebench.studies.analysis_settings import AuditSettings, analysis_settings, audit_settings

if TYPE_CHECKING:
    from convergebench.conductor.observer import Observer
    from convergebench.studies.base import BaseStudy


def check_analysis(prepared: Prepared) -> list[str]:
    """Refuse constants that only the report or the audit would stumble over; lines that are worth a note."""
    settings = analysis_settings(prepared.spec)
    facts = _facts(prepared, settings)
    require_planned(settings, facts)
    _require_floors(prepared, settings.floors)
    _require_audit(audit_settings(prepared.spec), prepared)
    return unmeasured(settings, (facts.name for facts in _measured(prepared).values()))


def check_parts(study: type[BaseStudy]) -> None:
    """Refuse a study that declares a part which cannot be found."""
    for name in study.analyses:
        require_part("analyses", name)
    for name in study.sections:
        require_part("sections", name)
    for name in study.exports:
        require_part("exports", name)


def check_ready(prepared: Prepared, observer: Observer) -> None:
    """Refuse a study whose editors, metrics or roles cannot run here; note what is worth knowing about the editors."""
    for notice in dict.fromkeys(notice for editor in prepared.editors.values() for notice in notices(editor)):
        observer.note(f"note: {notice}")
    for reason in prepared.left_out:
        observer.note(f"note: left out: {reason}")
    for name, editor in prepared.editors.items():
        missing = lacks(editor)
        if missing:
            raise Prerequisite(f"{name} cannot run here: {'; '.join(missing)}")
    require(load_metric(name).facts for name in prepared.metrics)
    for name in prepared.asked_roles:
        prepared.roles[name].ready()
        for line in prepared.roles[name].notices:
            observer.note(f"note: {line}")


def damage_metric(named: str) -> str:
    """The metric that says how damaged a picture is, or what is wrong with the one that is named."""
    from convergebench.store.rubrics import is_file

    metric = without_first(named) or "ssim"
    if is_file(metric):  # a rubric asks about one picture or an edit; a run's word must not have a file read
        raise StudyError("damage names a rubric file or a function; name a metric of cbench list metrics: ssim, lpips")
    facts = load_metric(metric).facts
    if facts.kind not in ("full-reference", "semantic"):
        raise StudyError(f"damage = '{named}' does not compare with the source; use ssim, lpips or similar")
    if facts.better == "neither":
        raise StudyError(f"damage = '{named}' does not say which images are worse; use ssim, lpips or similar")
    return metric


def _measured(prepared: Prepared) -> dict[str, MetricFacts]:
    return {one.name: one for one in (load_metric(name).facts for name in prepared.metrics)}


def _facts(prepared: Prepared, settings: AnalysisSettings) -> dict[str, MetricFacts]:
    """Of all metrics that are measured or named, as far as they are known."""
    named = {*settings.levels, *(name for _, name in named_metrics(settings))}
    known, facts = set(names("metrics")), _measured(prepared)
    for name in sorted(without_first(one) for one in named):
        if name not in facts and name in known:
            facts[name] = load_metric(name).facts
    return with_step_1(facts, named)


def _require_floors(prepared: Prepared, floors: tuple[str, ...]) -> None:
    known = {*names("editors"), *prepared.editors}
    for name in floors:
        if name not in known:
            raise StudyError(f"analysis.floors = '{name}': unknown editor{suggest(name, known)} (cbench list editors)")


def _require_audit(settings: AuditSettings, prepared: Prepared) -> None:
    known: Mapping[str, None] = dict.fromkeys([*names("metrics"), *_measured(prepared)])
    for name in settings.ranges:
        if name not in known:
            raise StudyError(f"analysis.audit.ranges: unknown metric '{name}'{suggest(name, known)}")
    if settings.damage and without_first(settings.damage) not in known:
        raise StudyError(f"analysis.audit.damage: unknown metric '{settings.damage}'{suggest(settings.damage, known)}")
    damage_metric(settings.damage)
