"""From run directories to everything an audit shows: read every picture's scores, analyse them, gather the facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.analysis.audit.analyse import analyse_audit
from convergebench.analysis.audit.positions import chain_roles, positions, returning, standing_still
from convergebench.analysis.audit.result import INPUTS, AuditInput
from convergebench.analysis.decay import with_step_1
from convergebench.analysis.series import named_series, without_first
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.metrics import load_metric
from convergebench.metrics.base import MetricFacts
from convergebench.report.audit.input import AuditReportInput, PictureKey
from convergebench.report.manifest_facts import manifest_facts
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import Manifest, command_line, read_manifest
from convergebench.store.rubrics import readable
from convergebench.studies.analysis_settings import AuditSettings
from convergebench.studies.base import study_of

DAMAGE = ("return", "first", "around")
"""Comparisons that say how damaged a picture is."""
UNMEASURED = "not measured yet; leave --no-measure out"


def run_names(paths: Sequence[Path]) -> dict[str, Path]:
    """Each run under its folder's name; where two are called alike the folders above tell them apart."""
    whole = [path.resolve() for path in paths]
    for path, resolved in zip(paths, whole, strict=True):
        if whole.count(resolved) > 1:
            raise StudyError(f"{path} is named twice; name each run once")
    found: dict[str, Path] = {}
    for path, resolved in zip(paths, whole, strict=True):
        depth = 1
        while any(resolved.parts[-depth:] == other.parts[-depth:] for other in whole if other != resolved):
            depth += 1
        name = "-".join(part.strip("/\\:") for part in resolved.parts[-depth:])
        while name in found:  # a-b/c beside a/b-c
            name += "-2"
        found[name] = path
    return found


def require_pictures(run: Path) -> None:
    """A run in which nothing was edited has nothing to show."""
    frames = RunFrames(run)
    edited = sum(frames.steps_done().values())
    frames.close()
    if not edited:
        raise StudyError(f"{run} has no edited image yet; make some first: cbench run STUDY.toml --run {run}")


def audit_report_input(
    runs: Sequence[Path],
    settings: AuditSettings,
    *,
    wanted: Sequence[str],
    not_run: Mapping[str, str],
    repeats: pl.DataFrame | None = None,
    opinions: pl.DataFrame | None = None,
    title: str = "",
) -> AuditReportInput:
    """Gather one or several runs and judge the wanted metrics by them; the runs may still be going."""
    named = run_names(runs)
    for path in runs:
        require_pictures(path)
    settings = _in_plain_words(settings, runs)
    known = _known(wanted)
    facts = {one.name: one for one in known.values()}
    parts = [_Gathered(name, path, list(facts), settings) for name, path in named.items()]
    scores = _joined("scores", [part.scores for part in parts])
    scored = set(scores["metric"].unique())
    if not scored:
        raise StudyError(
            f"there is no score to audit in {', '.join(str(path) for path in runs)}; leave --no-measure out, or name "
            "metrics that were measured"
        )
    given = AuditInput(
        scores=scores,
        damage=_joined("damage", [part.damage for part in parts]),
        chains=_joined("chains", [part.chains for part in parts]),
        facts={**{name: one for part in parts for name, one in part.damage_facts.items()}, **facts},
        not_run=_unscored(wanted, known, scored, not_run),
        **_given(repeats=repeats, opinions=opinions),
    )
    audit = analyse_audit(given, settings)
    left_out = [line for part in parts for line in part.left_out()]
    unlike = [*_differing(parts, scored), *(line for part in parts for line in part.unlike(settings))]
    return AuditReportInput(
        audit=replace(audit, notes=(*audit.notes, *(f"{line}." for line in (*unlike, *left_out)))),
        given=given,
        runs=named,
        pictures={key: file for part in parts for key, file in part.pictures.items()},
        simulated=frozenset(name for part in parts for name in part.simulated),
        made={
            "title": title,
            "command": command_line(),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "version": version("convergebench"),
            "left_out": left_out,
            "runs": {part.name: manifest_facts(part.manifest) for part in parts},
        },
    )


def _in_plain_words(settings: AuditSettings, runs: Sequence[Path]) -> AuditSettings:
    """Where every step is a round, they are called steps, as in the rest of such a run's report."""
    manifests = [read_manifest(path / "manifest.json") for path in runs]
    steps = all(study_of(one.study).unit.one == "step" and not returning(one.pairs) for one in manifests)
    return replace(settings, by="step") if steps else settings


def _known(wanted: Sequence[str], run: Path | None = None) -> dict[str, MetricFacts]:
    """Facts of the metrics that there are, by the name that was asked for; a rubric's path is another than its name.

    Names that come out of a run's manifest are given with the run, which keeps its own copies of rubrics.
    """
    found = {}
    for name in wanted:
        try:
            found[name] = load_metric(name if run is None else readable(run, name)).facts
        except ConvergeBenchError:  # said by whoever found out that it cannot run
            continue
    return found


def _unscored(
    wanted: Sequence[str], known: Mapping[str, MetricFacts], scored: set[str], told: Mapping[str, str]
) -> dict[str, str]:
    """Metric → why it has no score; one that was scored elsewhere before is none of these."""
    names = {name: known[name].name if name in known else name for name in wanted}
    return {own: told.get(name, UNMEASURED) for name, own in names.items() if own not in scored}


def _differing(parts: Sequence[_Gathered], scored: set[str]) -> list[str]:
    """Metrics that are not the same in all runs: another version, other weights, another precision, another rater."""
    found = []
    for name in sorted(scored):
        kinds: dict[str, list[str]] = {}
        for part in parts:
            if name in part.manifest.metrics:
                kinds.setdefault(part.manifest.metrics[name], []).append(part.name)
        if len(kinds) > 1:
            told = "; ".join(", ".join(runs) for runs in kinds.values())
            found.append(
                f"{name} is not the same metric in these runs; its version, weights, precision or rater differ: {told}"
            )
    return found


def _given(**frames: pl.DataFrame | None) -> dict[str, Any]:
    return {name: _shaped(frame, name) for name, frame in frames.items() if frame is not None}


def _shaped(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    return frame.select(pl.col(column).cast(kind) for column, kind in INPUTS[name].items())


def _joined(name: str, frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat([_shaped(frame, name) for frame in frames])


class _Gathered:
    """What one run gives to an audit."""

    def __init__(self, name: str, path: Path, metrics: Sequence[str], settings: AuditSettings) -> None:
        self.name = name
        self.manifest: Manifest = read_manifest(path / "manifest.json")
        frames = RunFrames(path)
        try:
            self._read(frames, metrics, settings)
        finally:
            frames.close()

    def _read(self, frames: RunFrames, metrics: Sequence[str], settings: AuditSettings) -> None:
        align = self.manifest.align
        scores, steps = frames.scores(metrics), frames.steps()
        measured = named_series(frames.measurements(align))
        chains = frames.chains()
        where = positions(scores, measured, self.manifest.pairs, by=settings.by)
        run = pl.lit(self.name).alias("run")
        at = where.select("editor", "case", "step", "at")
        # pictures inside a round have a score but no place: they are in the table and take no part
        self.scores = scores.join(at, on=["editor", "case", "step"], how="left", maintain_order="left").with_columns(
            run
        )
        # a plug-in that measured elsewhere need not be here
        own = {one.name: one for one in _known(list(self.manifest.metrics), frames.root).values()}
        every = with_step_1(own, set(measured["metric"].unique()))
        named = without_first(settings.damage)
        self.damage_facts = {
            key: one for key, one in every.items() if one.kind == "full-reference" or without_first(key) == named
        }
        self.damage = (
            measured.filter(pl.col("role").is_in(DAMAGE), pl.col("metric").is_in(list(self.damage_facts)))
            .join(at, on=["editor", "case", "step"])
            .unique(["editor", "case", "at", "metric"], keep="first", maintain_order=True)
            .with_columns(run)
        )
        self.simulated = [name for name, editor in self.manifest.editors.items() if editor.get("simulated")]
        last = where.group_by("editor", "case").agg(pl.col("at").max().alias("last"))
        still = standing_still(steps, measured, self.damage_facts, settings.baseline)
        self.chains = (
            chain_roles(chains, self.manifest.pairs, still, changes_stay=study_of(self.manifest.study).changes_stay)
            .join(last, on=["editor", "case"], how="left")
            .with_columns(run, pl.col("last").fill_null(0), pl.col("editor").is_in(self.simulated).alias("simulated"))
        )
        self.pictures = self._pictures(steps, at)

    def left_out(self) -> list[str]:
        """Chains that are not audited though they are copies, by editor."""
        still = self.chains.filter("still").group_by("editor").len().sort("editor")
        return [
            f"{count} {'chain of' if count == 1 else 'chains of'} {editor} in {self.name} "
            f"{'is' if count == 1 else 'are'} not audited: their copies do not differ, so nothing degrades"
            for editor, count in still.iter_rows()
        ]

    def unlike(self, settings: AuditSettings) -> list[str]:
        """Chains that do not show their source at every step although every step is counted."""
        if settings.by != "step":
            return []
        inside = self.chains.filter(pl.col("role") == "copies", pl.col("pair").is_in(returning(self.manifest.pairs)))
        if not inside.height:
            return []
        count = f"{inside.height} chains" if inside.height > 1 else "1 chain"
        return [
            f"{count} in {self.name} should show the source only at the end of a round: by step, images of different "
            f"content are compared, so a gap may come from what an edit added; --by round avoids this"
        ]

    def _pictures(self, steps: pl.DataFrame, at: pl.DataFrame) -> dict[PictureKey, str]:
        found = steps.filter(pl.col("image").is_not_null()).join(
            at, left_on=["editor", "case", "index"], right_on=["editor", "case", "step"], how="left"
        )
        found = found.with_columns(pl.when(pl.col("index") == 0).then(0).otherwise(pl.col("at")).alias("at"))
        rows = found.filter(pl.col("at").is_not_null()).select("editor", "case", "at", "image")
        return {(self.name, editor, case, number): image for editor, case, number, image in rows.iter_rows()}
