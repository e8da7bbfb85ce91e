"""`compare`, `audit`, `editors` and `metrics` from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.analysis.two_runs import RunSide, compare_sides
from convergebench.api.calling import call, call_async, options_of, recorded, several
from convergebench.api.loaded import LoadedRun
from convergebench.api.notebook import default_observer
from convergebench.conductor.options import AuditOptions, MeasureOptions
from convergebench.errors import StudyError

AnyRun = str | Path | LoadedRun


def compare(a: AnyRun, b: AnyRun, *, metrics: Sequence[str] | None = None, confidence: float = 0.95) -> pl.DataFrame:
    """Two runs on the cases and rounds that both have: per editor and metric the change (b − a) with its test.

    Cases are the same if source image, edit and replicate are. Editors of the same name are compared; if the runs have
    none in common, every editor of `a` with every one of `b`. docs/reference/tables.md explains the columns.
    """
    if not 0 < confidence < 1:
        raise StudyError(f"confidence = {confidence!r}: give a number between 0 and 1, such as 0.95")
    first, second = (one if isinstance(one, LoadedRun) else LoadedRun(one) for one in (a, b))
    return compare_sides(_side(first), _side(second), metrics=several(metrics, "metrics"), confidence=confidence)


def _side(run: LoadedRun) -> RunSide:
    hashes = {name: str(facts["sha256"]) for name, facts in run.manifest.sources.items()}
    return RunSide(str(run.root), run.measurements, hashes, run.analysed.context.facts)


@dataclass(frozen=True)
class LoadedAudit:
    """An audit: which quality metrics detect the damage of repeated edits."""

    page: Path
    """The page that was written."""
    headline: str
    tables: Mapping[str, pl.DataFrame]
    stopped: str | None = None
    """Why measuring ended before its time, or None."""

    @property
    def verdicts(self) -> pl.DataFrame:
        """One row per metric: whether it can be trusted, and why."""
        return self.tables["metrics"]

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.headline)}</p>\n{self.verdicts._repr_html_()}"


def audit(runs: AnyRun | Sequence[AnyRun], **options: Any) -> LoadedAudit:
    """Test no-reference metrics on the images of one or several runs, whose degradation is known.

    `options` are those of `AuditOptions` (metrics, measure, repeat, opinions, out, title, constants) and of
    `MeasureOptions` (workers, device, max_cost …); `progress=False` shows nothing.
    """
    return call(_audit_work(runs, options))


async def audit_async(runs: AnyRun | Sequence[AnyRun], **options: Any) -> LoadedAudit:
    """The same as `audit`, as a coroutine."""
    return await call_async(_audit_work(runs, options))


def _audit_work(runs: AnyRun | Sequence[AnyRun], options: Mapping[str, Any]) -> Callable[[], LoadedAudit]:
    from convergebench.conductor.auditing import audit as audit_runs
    from convergebench.report.audit.tables import audit_frames

    several_runs = [runs] if isinstance(runs, str | Path | LoadedRun) else list(runs)
    if not several_runs:
        raise StudyError("there is no run to audit; give at least one")
    roots = [one.root if isinstance(one, LoadedRun) else Path(one) for one in several_runs]
    given = dict(options)
    observer = default_observer(given.pop("progress", True))
    own = {key: given.pop(key) for key in list(given) if key in AuditOptions.__dataclass_fields__}
    own |= {key: Path(own[key]) for key in ("opinions", "out") if own.get(key) is not None}
    if "metrics" in own:
        own["metrics"] = several(own["metrics"], "metrics")
    measuring = options_of(MeasureOptions, given, "audit()", AuditOptions.__dataclass_fields__)

    def work() -> LoadedAudit:
        done = audit_runs(roots, AuditOptions(**own), measuring, observer)
        return LoadedAudit(done.page, " ".join(done.given.audit.headline), audit_frames(done.given), done.stopped)

    return recorded("audit", {"runs": [str(one) for one in roots], **options}, work)


def editors() -> pl.DataFrame:
    """All editors, including plug-ins and providers' models: what each takes, costs and lacks here."""
    from convergebench.conductor.listing import editor_rows

    return _frame(editor_rows())


def metrics() -> pl.DataFrame:
    """All metrics, including plug-ins: what each measures, its direction and range, what it lacks here."""
    from convergebench.conductor.listing import metric_rows

    return _frame(metric_rows())


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    columns = {key: key.replace(" ", "_") for key in rows[0]}
    return pl.DataFrame([{columns[key]: _cell(row.get(key, "")) for key in columns} for row in rows])


def _cell(value: Any) -> Any:
    return "; ".join(value) if isinstance(value, list) else value
