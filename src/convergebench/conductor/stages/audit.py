"""Stage `audit`: which quality metrics notice the damage that the study made?"""

from __future__ import annotations

from collections.abc import Sequence

from convergebench.analysis.audit.scaling import scale_of
from convergebench.analysis.series import without_first
from convergebench.conductor.audited_metrics import require_some, runnable, spell_out_metrics
from convergebench.conductor.options import MeasureOptions
from convergebench.conductor.stages.base import Stage, StageContext
from convergebench.engine.prepared import Prepared
from convergebench.metrics import load_metric
from convergebench.metrics.readiness import require
from convergebench.studies.analysis_settings import audit_settings


class AuditStage(Stage):
    """Measures the audited metrics on every picture and writes the audit beside the report."""

    pages = True

    def check(self, prepared: Prepared) -> Sequence[str]:
        """Which metrics will be audited and which cannot be."""
        settings = audit_settings(prepared.spec)
        if settings.damage:
            require([load_metric(without_first(settings.damage)).facts])
        able, missing = runnable(spell_out_metrics(prepared.spec[prepared.study]["metrics"]), prepared.roles)
        require_some(able, missing)
        for name in able:
            scale_of(load_metric(name).facts, settings)
        others = f"; not run here: {', '.join(missing)} (cbench list metrics)" if missing else ""
        return [f"then audited: {', '.join(able)}{others}"]

    def __call__(self, context: StageContext) -> str | None:
        """Audit the run that was just made."""
        from convergebench.conductor.auditing import audit

        options = context.options
        measuring = MeasureOptions(
            workers=options.workers,
            device=options.device,
            max_cost=options.max_cost,
            own_roles=context.prepared.spec.get("roles", {}),
        )
        return audit([context.root], measuring=measuring, observer=context.observer).stopped
