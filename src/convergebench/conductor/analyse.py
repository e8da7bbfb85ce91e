"""Analyse a run: read its tables, compute the parts that its study declares, gather the facts that a report shows."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from convergebench.analysis import Analysis, analyse
from convergebench.analysis.decay import with_step_1
from convergebench.analysis.parts import AnalysisContext, AnalysisPart, AnalysisResult
from convergebench.analysis.sequential.result import until_analysis, without_fixed_claims
from convergebench.analysis.series import named_series
from convergebench.conductor.until_question import kept_question
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.failures import load_detector
from convergebench.failures.base import DetectorFacts
from convergebench.metrics import load_metric
from convergebench.registry import error_text, load, names
from convergebench.report.input import ReportInput
from convergebench.report.made import realigned
from convergebench.report.manifest_facts import manifest_facts
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.rubrics import readable
from convergebench.studies.analysis_settings import analysis_settings
from convergebench.studies.base import missing_study, study_of

BUILT_IN = ("comparison", "decay")


@dataclass(frozen=True, slots=True)
class AnalysedRun:
    """The tables of a run and what was computed from them."""

    root: Path
    manifest: Manifest
    """With the alignment that counts here."""
    context: AnalysisContext
    """The tables, and under `results` the result of every part."""
    notes: tuple[str, ...] = ()
    """Parts that could not be computed and why, a line each."""

    @property
    def comparison(self) -> Analysis:
        """The ranking and all that belongs to it; without rows where the study compares no editors."""
        found = self.context.results.get("comparison")
        if isinstance(found, Analysis):
            return found
        nothing = replace(
            self.context, measurements=self.context.measurements.clear(), chains=self.context.chains.clear()
        )
        said = next((tuple(one.headline) for one in self.context.results.values() if hasattr(one, "headline")), ())
        return replace(analyse(nothing, self.context.settings), headline=said)


def analyse_run(root: Path, align: str | None = None) -> AnalysedRun:
    """Analyse a run as it stands, under this alignment if one is given; it may still be going."""
    manifest, context = read_context(root, align)
    parts = list(study_of(manifest.study).analyses)
    if context.labels.height and "decay" not in parts:  # whatever its study, a run that was examined shows its failures
        parts.append("decay")
    notes = [note for note in (missing_study(manifest.study),) if note]
    for name in parts:
        try:
            context = replace(context, results={**context.results, name: _result(name, context)})
        except ConvergeBenchError as error:
            if name in BUILT_IN:
                raise
            notes.append(str(error))  # the rest is still shown
    return AnalysedRun(root, manifest, _with_decision(root, context), tuple(notes))


def _with_decision(root: Path, context: AnalysisContext) -> AnalysisContext:
    """What a run that is made until it is decided has decided, with no claims for a fixed number of images."""
    question, found = kept_question(root), context.results.get("comparison")
    if question is None or not isinstance(found, Analysis):
        return context
    until = until_analysis(context, question)
    own = without_fixed_claims(found, until, context.unit)
    return replace(context, results={**context.results, "comparison": own, "until": until})


def read_context(root: Path, align: str | None = None) -> tuple[Manifest, AnalysisContext]:
    """The manifest of a run and its tables, before anything is computed from them."""
    frames = RunFrames(root)
    try:
        manifest = _aligned(read_manifest(root / "manifest.json"), frames, align)
        return manifest, _context(manifest, frames)
    finally:
        frames.close()


def report_input(root: Path, align: str | None = None) -> ReportInput:
    """What a report on a run shows."""
    run = analyse_run(root, align)
    context = run.context
    return ReportInput(
        analysis=run.comparison,
        measurements=context.measurements,
        chains=context.chains,
        steps=context.steps,
        manifest={**manifest_facts(run.manifest), "realigned": realigned(context.measurements)},
        run=root,
        facts=context.facts,
        simulated=context.simulated,
        uninstructed=context.uninstructed,
        results=context.results,
        notes=run.notes,
        spending=context.spending,
    )


def _result(name: str, context: AnalysisContext) -> AnalysisResult:
    """The result of one part; what is wrong with a third party's is a StudyError of one line."""
    part: AnalysisPart = load("analyses", name)
    if name in BUILT_IN:
        return part(context)
    try:
        result = part(context)
        tables = dict(result.tables())
        fault = "" if all(isinstance(frame, pl.DataFrame) for frame in tables.values()) else "gives no polars frames"
    except ConvergeBenchError:
        raise
    except Exception as error:  # foreign code: whatever it raises becomes one line
        raise StudyError(f"analysis '{name}' failed: {error_text(error)}") from error
    twice = tables.keys() & {table for other in context.results.values() for table in other.tables()}
    fault = fault or (f"gives a second table '{min(twice)}'" if twice else "")
    if fault:
        raise StudyError(f"analysis '{name}' {fault}; it is left out")
    return result


def _context(manifest: Manifest, frames: RunFrames) -> AnalysisContext:
    align = manifest.align
    measurements, labels = with_view(named_series(frames.measurements(align))), frames.labels()
    # a rubric of the user's own is found by its path and has another name
    metrics = (load_metric(readable(frames.root, name)).facts for name in manifest.metrics)
    return AnalysisContext(
        measurements=measurements,
        chains=frames.chains(),
        facts=with_step_1({one.name: one for one in metrics}, set(measurements["metric"].unique())),
        simulated=_editors(manifest, "simulated", marked=True),
        deterministic=_editors(manifest, "deterministic", marked=True),
        uninstructed=_editors(manifest, "instructed", marked=False),
        unit=study_of(manifest.study).unit,
        settings=analysis_settings(manifest.spec),
        steps=frames.steps(),
        answers=frames.answers(),
        decisions=frames.decisions(),
        ratings=frames.ratings(),
        labels=labels,
        anchors=frames.anchors(),
        spending=frames.spending(),
        align=align,
        aligned={
            mode: with_view(named_series(frames.measurements(mode))) for mode in frames.alignments() if mode != align
        },
        pairs=manifest.pairs,
        modes=_modes(labels),
        sources=manifest.sources,
        spec=manifest.spec,
    )


def _editors(manifest: Manifest, mark: str, *, marked: bool) -> frozenset[str]:
    return frozenset(name for name, editor in manifest.editors.items() if editor.get(mark) is marked)


def with_view(measurements: pl.DataFrame) -> pl.DataFrame:
    """With the share of the source that each comparison shows, where `auto` had to leave some of it out.

    Under `crop-aware` a crop is no loss by the choice of whoever asked for it.
    """
    crop = pl.col("detail").str.extract(r"^registered:.* crop ([-+.e\d]+)", 1).cast(pl.Float64)
    return measurements.with_columns(pl.when(pl.col("align") == "auto").then(1 - crop).alias("in_view"))


def _aligned(manifest: Manifest, frames: RunFrames, align: str | None) -> Manifest:
    """The manifest under the alignment asked for, or else the run's own; one it was not measured under is refused."""
    measured = frames.alignments()
    said = manifest.spec.get("measure", {})
    if align is None and "align" not in said and measured:  # not stated: as it was measured
        align = manifest.align if manifest.align in measured else measured[0]
    if align is None or align == manifest.align:
        return manifest
    if measured and align not in measured:
        raise StudyError(
            f"{frames.root} was measured under {', '.join(measured)}, not under {align}; "
            f"type: cbench measure {frames.root} --align {align}"
        )
    return replace(manifest, spec={**manifest.spec, "measure": {**said, "align": align}})


def _modes(labels: pl.DataFrame) -> dict[str, DetectorFacts]:
    """What is known of the failures that were looked for; a person may name one that no rule knows."""
    known, found = set(names("failures")), {}
    for mode in labels["mode"].unique().sort():
        with suppress(ConvergeBenchError):  # a plug-in that no longer loads
            if mode in known:
                found[mode] = load_detector(mode).facts
    return found
