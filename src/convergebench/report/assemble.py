"""From a run directory to everything a report draws: read the tables, analyse them, gather the facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.analysis import ANALYSIS_VERSION, AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.decay import analyse_decay, comparable, with_step_1
from convergebench.analysis.units import unit_of
from convergebench.failures import load_detector
from convergebench.failures.base import DetectorFacts
from convergebench.ids import content_hash
from convergebench.metrics import load_metric
from convergebench.registry import names
from convergebench.report.input import ReportInput
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import Manifest, read_manifest


def assemble(run: Path) -> ReportInput:
    """Analyse a run as it stands; it may still be going."""
    frames = RunFrames(run)
    manifest = read_manifest(run / "manifest.json")
    align = manifest.spec.get("measure", {}).get("align", "strict")
    measurements, chains, steps = frames.measurements(align), frames.chains(), frames.steps()
    labels = frames.labels()
    frames.close()
    # a rubric of the user's own is found by its path and has another name
    facts = {one.name: one for one in (load_metric(name).facts for name in manifest.metrics)}
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
    own = measurements.join(ranked.select("editor", "case"), on=["editor", "case"], how="semi")
    analysis = analyse(replace(given, measurements=own, chains=ranked), settings)
    decay = None
    if unit.one == "step" or labels.height:
        decay = analyse_decay(given, labels, manifest.pairs, _modes(labels), settings)
    return ReportInput(
        analysis=analysis,
        measurements=measurements,
        chains=chains,
        steps=steps,
        manifest=manifest_facts(manifest),
        run=run,
        facts=facts,
        simulated=marks["simulated"],
        uninstructed=copies,
        replicate=decay,
    )


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
