"""The built-in stages by name."""

TABLE = {
    "measure": "convergebench.conductor.stages.measure:MeasureStage",
    "examine": "convergebench.conductor.stages.examine:ExamineStage",
    "audit": "convergebench.conductor.stages.audit:AuditStage",
}
