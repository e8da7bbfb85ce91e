"""The built-in sections: name → module and object. A study lists those of its page, in order."""

TABLE = {
    name: f"convergebench.report.sections.{where}"
    for name, where in {
        "decay-wall": "wall:WALL",
        "score-traces": "traces:TRACES",
        "failure-gallery": "gallery:GALLERY",
        "ranking": "ranking:RANKING",
        "sensitivity": "sensitivity:SENSITIVITY",
        "curves": "curves:CURVES",
        "survival": "curves:SURVIVAL",
        "failures": "failures:FAILURES",
        "onset": "noticing:ONSET",
        "variants": "variants:VARIANTS",
        "trace": "traces:TRACE",
        "settling": "settling:SETTLING",
        "breakdown": "breakdown:BREAKDOWN",
        "adherence": "adherence:ADHERENCE",
        "diagnostics": "diagnostics:DIAGNOSTICS",
        "worst": "cases:WORST",
        "chains": "cases:CHAINS",
        "factory-funnel": "factory.funnel:FUNNEL",
        "factory-examples": "factory.examples:EXAMPLES",
        "factory-success": "factory.success:SUCCESS",
        "factory-sessions": "factory.sessions:SESSIONS",
        "factory-judge": "factory.judge:JUDGE",
        "factory-calibration": "factory.calibration:CALIBRATION",
        "factory-composition": "factory.composition:COMPOSITION",
        "tables": "tables:TABLES",
        "cost": "cases:COST",
        "made": "made:MADE",
        "terms": "made:TERMS",
    }.items()
}
