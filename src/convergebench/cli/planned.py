"""The analysis and the audit of a study, tried on its constants alone: before the first call, and by `--dry-run`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convergebench.analysis.audit.settings import AuditSettings
    from convergebench.engine.session import Prepared
    from convergebench.metrics.base import MetricFacts

FIRST = "-first"


def require_analysable(prepared: Prepared) -> list[str]:
    """Refuse constants that only the report or the audit would stumble over; lines that are worth a note."""
    from convergebench.analysis.requirements import require_planned, unmeasured
    from convergebench.report.assemble import analysis_settings
    from convergebench.report.audit.assemble import audit_settings

    settings = analysis_settings(prepared.spec)
    facts = _facts(prepared, settings.levels.keys() | _named(settings))
    require_planned(settings, facts)
    _require_floors(prepared, settings.floors)
    _require_audit(audit_settings(prepared.spec), prepared)
    return unmeasured(settings, (load.name for load in _measured(prepared).values()))


def audited_metrics(prepared: Prepared) -> str:
    """Which metrics will be audited and which cannot be; a slip in a name is told before the first call is paid for."""
    from convergebench.analysis.audit.scaling import scale_of
    from convergebench.engine.audited import require_some, runnable, wanted_metrics
    from convergebench.metrics import load_metric
    from convergebench.metrics.readiness import require
    from convergebench.report.audit.assemble import audit_settings

    settings = audit_settings(prepared.spec)
    if settings.damage:
        require([load_metric(settings.damage.removesuffix(FIRST)).facts])
    able, missing = runnable(wanted_metrics(prepared.spec["audit"]["metrics"]), prepared.roles)
    require_some(able, missing)
    for name in able:
        scale_of(load_metric(name).facts, settings)
    others = f"; not run here: {', '.join(missing)} (cbench list metrics)" if missing else ""
    return f"then audited: {', '.join(able)}{others}"


def _measured(prepared: Prepared) -> dict[str, MetricFacts]:
    from convergebench.metrics import load_metric

    return {one.name: one for one in (load_metric(name).facts for name in prepared.metrics)}


def _named(settings: Any) -> set[str]:
    from convergebench.analysis.requirements import named_metrics

    return {name for _, name in named_metrics(settings)}


def _facts(prepared: Prepared, named: set[str]) -> dict[str, MetricFacts]:
    """Of all metrics that are measured or named, as far as they are known."""
    from convergebench.analysis.decay import with_step_1
    from convergebench.metrics import load_metric
    from convergebench.registry import names

    known, facts = set(names("metrics")), _measured(prepared)
    for name in sorted(one.removesuffix(FIRST) for one in named):
        if name not in facts and name in known:
            facts[name] = load_metric(name).facts
    return with_step_1(facts, named)


def _require_floors(prepared: Prepared, floors: tuple[str, ...]) -> None:
    from convergebench.errors import StudyError
    from convergebench.registry import names, suggest

    known = {*names("editors"), *prepared.editors}
    for name in floors:
        if name not in known:
            raise StudyError(f"analysis.floors = '{name}': unknown editor{suggest(name, known)} (cbench list editors)")


def _require_audit(settings: AuditSettings, prepared: Prepared) -> None:
    from convergebench.analysis.audit.scaling import check_settings
    from convergebench.cli.rating import damage_metric
    from convergebench.errors import StudyError
    from convergebench.registry import names, suggest

    check_settings(settings)
    known: Mapping[str, None] = dict.fromkeys([*names("metrics"), *_measured(prepared)])
    for name in settings.ranges:
        if name not in known:
            raise StudyError(f"analysis.audit.ranges: unknown metric '{name}'{suggest(name, known)}")
    if settings.damage and settings.damage.removesuffix(FIRST) not in known:
        raise StudyError(f"analysis.audit.damage: unknown metric '{settings.damage}'{suggest(settings.damage, known)}")
    damage_metric(settings.damage)
