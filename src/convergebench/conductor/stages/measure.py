"""Stage `measure`: every metric of the run that the study can answer for."""

from __future__ import annotations

from convergebench.conductor.expecting import report_seconds
from convergebench.conductor.growing import metrics_to_fill
from convergebench.conductor.measuring import fill, place_for
from convergebench.conductor.stages.base import Stage, StageContext
from convergebench.engine.prepared import Prepared
from convergebench.measuring.alongside import MeasuringAlongside
from convergebench.measuring.measure import split_metrics


class MeasureStage(Stage):
    """Fills in what is missing; pictures of slow editors are measured while later calls are in flight."""

    def __init__(self) -> None:
        self._begun: MeasuringAlongside | None = None

    def begin(self, context: StageContext) -> MeasuringAlongside | None:
        """Measure alongside editing, unless every editor is simulated: those need the same cores."""
        prepared, options, backend = context.prepared, context.options, context.backend
        pixels, _ = split_metrics(prepared.metrics)
        editors = prepared.editors.values()
        if pixels and not all(editor.capabilities.simulated for editor in editors):
            self._begun = MeasuringAlongside(
                context.run,
                pixels,
                align_mode=prepared.spec["measure"]["align"],
                place=place_for(prepared.metrics, options.device, prepared.precision, backend),
                workers=options.workers,
                # an editor without an account works on this machine, and may need the GPU itself; a cluster gives
                # GPUs out
                use_device=backend.spreads or all(editor.limits.account for editor in editors),
                backend=backend,
            )
        return self._begun

    def __call__(self, context: StageContext) -> str | None:
        """Measure pixels, then ask questions."""
        prepared, options = context.prepared, context.options
        _, stopped = fill(
            context.run,
            metrics_to_fill(context.run, prepared, context.observer),
            prepared.spec["measure"]["align"],
            place_for(prepared.metrics, options.device, prepared.precision, context.backend),
            prepared.roles,
            workers=options.workers,
            max_cost=options.max_cost,
            observer=context.observer,
            begun=self._begun,
            report_seconds=report_seconds(_steps(prepared)) if options.report else None,
            backend=context.backend,
        )
        return stopped


def _steps(prepared: Prepared) -> int:
    return sum(chain.study.calls(chain.case) for chain in prepared.chains)
