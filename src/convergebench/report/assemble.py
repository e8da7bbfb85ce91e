"""From a run directory to everything a report draws: read the tables, analyse them, gather the facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.analysis import ANALYSIS_VERSION, AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.anchors import anchor_table
from convergebench.analysis.decay import analyse_decay, comparable, with_step_1
from convergebench.analysis.findings import rank_only
from convergebench.analysis.sensitivity import common_rounds, sensitivity
from convergebench.analysis.units import unit_of
from convergebench.errors import StudyError
from convergebench.failures import load_detector
from convergebench.failures.base import DetectorFacts
from convergebench.ids import content_hash
from convergebench.metrics import load_metric
from convergebench.registry import names
from convergebench.report.input import ReportInput
from convergebench.report.made import realigned
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.rubrics import readable


def assemble(run: Path, align: str | None = None) -> ReportInput:
    """Analyse a run as it stands, under this alignment if one is given; it may still be going."""
    frames = RunFrames(run)
    manifest = _aligned(read_manifest(run / "manifest.json"), frames, align)
    align = manifest.align
    measurements, chains, steps = with_view(frames.measurements(align)), frames.chains(), frames.steps()
    labels, anchors, spending = frames.labels(), frames.anchors(), frames.spending()
    others = {mode: with_view(frames.measurements(mode)) for mode in frames.alignments() if mode != align}
    frames.close()
    # a rubric of the user's own is found by its path and has another name
    facts = {one.name: one for one in (load_metric(readable(run, name)).facts for name in manifest.metrics)}
    facts = with_step_1(facts, set(measurements["metric"].unique()))
    marks = {
        mark: frozenset(name for name, editor in manifest.editors.items() if editor.get(mark))
        for mark in ("simulated", "deterministic")
    }
    copies = frozenset(name for name, editor in manifest.editors.items() if editor.get("instructed") is False)
    unit = unit_of(manifest.study)
    given = AnalysisInput(measurements, chains, facts, **marks, uninstructed=copies, unit=unit)
    settings = analysis_settings(manifest.spec)
    ranked = comparable(manifest.pairs, chains)
    own, *elsewhere = (
        rows.join(ranked.select("editor", "case"), on=["editor", "case"], how="semi")
        for rows in (measurements, *others.values())
    )
    compared = replace(given, measurements=own, chains=ranked)
    analysis = analyse(compared, settings)
    editors = analysis.ranking.filter(pl.col("rank").is_not_null())["editor"].to_list()
    rounds = common_rounds(ranked, editors or analysis.ranking["editor"].to_list())
    aligned = {mode: replace(compared, measurements=rows) for mode, rows in zip(others, elsewhere, strict=True)}
    analysis = replace(
        analysis,
        anchors=anchor_table(anchors, facts, settings, rounds=rounds),
        sensitivity=sensitivity(compared, settings, rank_only, aligned, align=align),
    )
    decay = None
    if unit.one == "step" or labels.height:
        decay = analyse_decay(given, labels, manifest.pairs, _modes(labels), settings)
    return ReportInput(
        analysis=analysis,
        measurements=measurements,
        chains=chains,
        steps=steps,
        manifest={**manifest_facts(manifest), "realigned": realigned(measurements)},
        run=run,
        facts=facts,
        simulated=marks["simulated"],
        uninstructed=copies,
        replicate=decay,
        spending=spending,
    )


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
    if align is None and "align" not in said and measured:  # told nobody: as it was measured
        align = manifest.align if manifest.align in measured else measured[0]
    if align is None or align == manifest.align:
        return manifest
    if measured and align not in measured:
        frames.close()
        raise StudyError(
            f"{frames.root} was measured under {', '.join(measured)}, not under {align}; "
            f"type: cbench measure {frames.root} --align {align}"
        )
    return replace(manifest, spec={**manifest.spec, "measure": {**said, "align": align}})


def _modes(labels: pl.DataFrame) -> dict[str, DetectorFacts]:
    """What is known of the failures that were looked for; a person may name one that no rule knows."""
    known = set(names("failures"))
    return {mode: load_detector(mode).facts for mode in labels["mode"].unique().sort() if mode in known}


def analysis_settings(spec: Mapping[str, Any]) -> AnalysisSettings:
    """The analysis constants of a study; lists become tuples again."""
    table: dict[str, Any] = {}
    for key, value in spec.get("analysis", {}).items():
        if key != "audit":  # has settings of its own: report.audit.assemble
            table[key] = tuple(value) if isinstance(value, list) else value
    return AnalysisSettings(**table)


def manifest_facts(manifest: Manifest) -> dict[str, Any]:
    """How a run was made, for whoever shows it."""
    last = manifest.sessions[-1] if manifest.sessions else {}
    return {
        "name": manifest.name,
        "study": manifest.study,
        "created": manifest.created,
        "command": last.get("command", ""),
        "spec": manifest.spec,
        "versions": last.get("versions", {}),
        "git": last.get("git"),
        "suite_hash": content_hash({name: source["sha256"] for name, source in manifest.sources.items()}),
        "pairs_hash": content_hash(manifest.pairs),
        "analysis_version": ANALYSIS_VERSION,
        "sources": manifest.sources,
        "pairs": manifest.pairs,
        "editors": [{"name": name, **facts} for name, facts in manifest.editors.items()],
        "metrics": [{"name": name, "fingerprint": identity} for name, identity in manifest.metrics.items()],
        "sessions": manifest.sessions,
    }
