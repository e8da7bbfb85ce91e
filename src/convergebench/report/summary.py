"""The findings as plain data, for `--json` and other programs."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.replicate import ReplicateAnalysis
from convergebench.report.chains import plain
from convergebench.report.input import ReportInput
from convergebench.report.made import alignment


def ranking_json(given: ReportInput) -> dict[str, Any]:
    """Everything `cbench show RUN --json` prints, ready for `json.dumps(…, allow_nan=False)`.

    A missing value is null; an infinite one is the word `Infinity`, so that the two are not mixed up.
    """
    analysis = given.analysis
    measured = given.measurements
    overall = {
        name: getattr(analysis, name).to_dicts()
        for name in (
            "ranking",
            "pairwise",
            "places",
            "verdicts",
            "outcomes",
            "floors",
            "worst",
            "anchors",
            "sensitivity",
        )
    }
    grouped = {
        name: _all(getattr(analysis, name).to_dicts())
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
            **({"replicate": _replicate(given.replicate)} if given.replicate else {}),
        }
    )
    return found


def _replicate(found: ReplicateAnalysis) -> dict[str, list[dict[str, Any]]]:
    """Its summaries; the rows of single chains are in the tables."""
    kept = ("onset_summary", "failures", "agreement", "noticing_summary", "variants", "success")
    return {name: getattr(found, name).to_dicts() for name in kept}


def _all(table: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in table if row["group"] == "all"]
