"""The findings as plain data, for `--json` and other programs."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.decay_result import DecayAnalysis
from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.analysis.sequential.result import UntilAnalysis
from convergebench.report.chains import plain
from convergebench.report.input import ReportInput
from convergebench.report.made import alignment


def ranking_json(given: ReportInput) -> dict[str, Any]:
    """Everything `cbench show RUN --json` prints, ready for `json.dumps(…, allow_nan=False)`.

    A missing value is null; an infinite one is the string `Infinity`.
    """
    analysis = given.analysis
    measured = given.measurements
    whole = ("ranking", "pairwise", "places", "verdicts", "outcomes", "floors", "worst", "anchors", "sensitivity")
    overall = {name: getattr(analysis, name).to_dicts() for name in whole}
    grouped = {
        name: getattr(analysis, name).filter(group="all").to_dicts()
        for name in ("curves", "auc", "half_life", "survival", "shapes", "adherence")
    }
    found: dict[str, Any] = plain(
        {
            "name": given.manifest.get("name"),
            "study": given.manifest.get("study"),
            "created": given.manifest.get("created"),
            "finding": list(analysis.headline),
            "formula": analysis.formula,
            "analysis_version": analysis.version,
            "simulated": sorted(given.simulated & set(given.editors)),
            "uninstructed": sorted(given.uninstructed & set(given.editors)),
            "not_run": given.not_run,
            "alignment": alignment(given.manifest),
            "n_chains": given.chains.height,
            "n_missing": int(measured["value"].null_count()) if measured.height else 0,
            **overall,
            **grouped,
            **({"replicate": _decay(given.decay)} if given.decay else {}),
            **_restoration(given),
            **_until(given),
        }
    )
    return found


def _decay(found: DecayAnalysis) -> dict[str, list[dict[str, Any]]]:
    """The summaries of a decay analysis; the rows of single chains are in the tables."""
    kept = ("onset_summary", "failures", "agreement", "noticing_summary", "variants", "success")
    return {name: getattr(found, name).to_dicts() for name in kept}


def _until(given: ReportInput) -> dict[str, Any]:
    """The question of a run that is made until it is decided, and what was decided; intervals hold at any time."""
    found = given.result(UntilAnalysis)
    if found is None:
        return {}
    question = found.decision.question.to_json()
    asked = {name: value for name, value in question.items() if name != "cases"}
    tables = {"comparisons": found.until.to_dicts(), "looks": found.until_looks.to_dicts()}
    return {"until": {"decided": found.decision.settled, "question": asked, **tables}}


def _restoration(given: ReportInput) -> dict[str, dict[str, Any]]:
    """The tables of a restoration run; the values of single results are in the tables' files."""
    found = given.result(RestorationAnalysis)
    if found is None:
        return {}
    frames = {name: frame.to_dicts() for name, frame in found.tables().items() if name != "restored"}
    return {"restoration": {"unified": found.unified, "metrics": list(found.metrics), **frames}}
