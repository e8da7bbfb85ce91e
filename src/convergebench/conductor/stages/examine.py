"""Stage `examine`: look for the failures that the study names."""

from __future__ import annotations

from convergebench.conductor.examining import examine_open, faults_line
from convergebench.conductor.stages.base import Stage, StageContext


class ExamineStage(Stage):
    """Runs the study's detectors over every chain."""

    def __call__(self, context: StageContext) -> str | None:
        """Examine; a detector that fails is noted, since a third party's must not prevent the report."""
        detectors = list(context.prepared.spec["examine"]["detectors"])
        if detectors:
            done = examine_open(context.run, detectors, workers=context.options.workers, observer=context.observer)
            if done.faults:
                context.observer.note(faults_line(done))
        return None
