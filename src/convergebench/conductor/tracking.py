"""Telling a tracker about a run: what it was asked, what came out; never a key, and never at the cost of the run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.conductor.observer import Observer
from convergebench.datasets.secrets import redacted_json
from convergebench.engine.prepared import Prepared
from convergebench.redaction import redact
from convergebench.registry import error_text
from convergebench.report.input import ReportInput
from convergebench.trackers.base import BESIDE, TrackedResult, TrackedStart, Tracker, load_tracker

_VALUES = {
    "score": "score",
    "score_low": "low",
    "score_high": "high",
    "closeness": "closeness",
    "done": "done",
    "undone": "undone",
    "half_life": "half_life_median",
    "n_cases": "n_cases",
}
"""Name in the tracker → column of the ranking."""


class Tracking:
    """A tracker whose failures are told in one line and do no harm; without a name it does nothing.

    Made before anything is called: a name or a package that is missing ends the command then.
    """

    def __init__(self, name: str, observer: Observer) -> None:
        self.name, self._observer = name, observer
        self._tracker: Tracker | None = load_tracker(name) if name else None
        self._begun = False
        self.status = "stopped"
        """How the tracker's run is closed; set to `finished` when everything is done."""

    def begin(self, root: Path, prepared: Prepared) -> None:
        """The run begins."""
        self._call(lambda tracker: tracker.begin(_start(root, prepared)))
        self._begun = self._tracker is not None

    def result(self, given: ReportInput, page: Path | None) -> None:
        """What came out."""
        self._call(lambda tracker: tracker.log(_result(given, page)))

    def __enter__(self) -> Tracking:
        return self

    def __exit__(self, *failure: object) -> None:
        """Close the tracker, whatever happened."""
        if self._begun:
            self._call(lambda tracker: tracker.end(self.status))

    def _call(self, work: Callable[[Tracker], None]) -> None:
        if self._tracker is None:
            return
        try:
            work(self._tracker)
        except (Exception, SystemExit) as error:  # a tracker must not cost a run that is paid for
            self._tracker = None
            self._observer.note(redact(f"note: tracker {self.name} failed, the run goes on: {error_text(error)[:300]}"))


def _start(root: Path, prepared: Prepared) -> TrackedStart:
    config: dict[str, Any] = {
        "study": prepared.study,
        "spec": prepared.spec,
        "fixed": prepared.fixed,
        "editors": {name: editor.fingerprint for name, editor in prepared.editors.items()},
        "metrics": list(prepared.metrics),
        "chains": len(prepared.chains),
    }
    plain = json.loads(redact(redacted_json(json.loads(json.dumps(config, default=str)))))
    whole = root.resolve()
    # beside the run: trackers make links, and a run with links that lead out of it is not read
    return TrackedStart(redact(whole.name), whole.with_name(f"{whole.name}{BESIDE}"), plain)


def _result(given: ReportInput, page: Path | None) -> TrackedResult:
    values: dict[str, float] = {}
    for row in given.ranked:
        for name, column in _VALUES.items():
            if row[column] is not None and math.isfinite(row[column]):
                values[f"{name}/{row['editor']}"] = float(row[column])
    if given.spending.height:
        values["dollars"] = float(given.spending["dollars"].sum())
    curves: dict[str, list[tuple[int, float]]] = {}
    whole = given.analysis.curves.filter(pl.col("group") == "all").sort("metric", "editor", "round")
    for row in whole.iter_rows(named=True):
        if row["mean"] is not None and math.isfinite(row["mean"]):
            curves.setdefault(f"{row['metric']}/{row['editor']}", []).append((row["round"], row["mean"]))
    texts = {
        "finding": " ".join(given.analysis.headline),
        "score_formula": given.analysis.formula,
        "ranking": _table(given),
        "report": str(page) if page is not None else "not written",
    }
    return TrackedResult(values, curves, {name: redact(text) for name, text in texts.items()})


def _table(given: ReportInput) -> str:
    lines = ["| # | editor | score | low | high | n |", "| --- | --- | --- | --- | --- | --- |"]
    for row in given.ranked:
        cells = [row["rank"], row["editor"], *(_number(row[name]) for name in ("score", "low", "high")), row["n_cases"]]
        lines.append("| " + " | ".join("–" if cell is None else str(cell) for cell in cells) + " |")
    return "\n".join(lines)


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"
