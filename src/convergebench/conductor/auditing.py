"""An audit of one or several runs: measure what is missing, score some pictures again, gather, write the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.conductor.analyse_audit import audit_report_input, require_pictures, run_names
from convergebench.conductor.audited_metrics import WHOLE, require_some, runnable, spell_out_metrics
from convergebench.conductor.checks import damage_metric
from convergebench.conductor.measuring import answering_roles, extend_and_fill, place_for, spec_with
from convergebench.conductor.observer import Observer
from convergebench.conductor.options import AuditOptions, MeasureOptions
from convergebench.errors import StudyError
from convergebench.measuring.every_picture import rate_every_picture
from convergebench.measuring.measure import split_metrics
from convergebench.measuring.opinions import Opinion, read_opinions, score_opinions
from convergebench.measuring.repeatability import Repeat, repeats, samples_of
from convergebench.metrics import SETS, load_metric
from convergebench.progress import Progress
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.audit.write import write_audit
from convergebench.report.wording import count
from convergebench.roles.base import Role
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.queries.measuring import measured_metrics
from convergebench.store.rubrics import is_file, readable
from convergebench.store.run import Run, is_run, require_run
from convergebench.studies.analysis_settings import AuditSettings, audit_settings
from convergebench.studies.base import study_of

if TYPE_CHECKING:
    import polars as pl

NO_SCORE = "it was measured but gave no score; the same command tries again"
REPEATED = 2
"""Pictures that are scored again by default."""
KEPT = ("images", "report", "tables", "evidence", "rubrics")
"""Folders of a run that belong to other commands."""


@dataclass(frozen=True)
class WrittenAudit:
    """An audit on the disk, and what it shows."""

    page: Path
    tables: Path
    given: AuditReportInput
    stopped: str | None
    """Why measuring ended before its time, or None."""


def audit(
    runs: Sequence[Path],
    options: AuditOptions | None = None,
    measuring: MeasureOptions | None = None,
    observer: Observer | None = None,
) -> WrittenAudit:
    """Hold no-reference metrics against pictures whose decay is known, and write which of them notice it."""
    options, observer = options or AuditOptions(), observer or Observer()
    for path in runs:
        require_pictures(require_run(path))
    named = run_names(runs)
    manifests = {name: read_manifest(path / "manifest.json") for name, path in named.items()}
    settings = _settings(manifests, options.constants, observer)
    chosen = spell_out_metrics(options.metrics or _own_metrics(named, manifests))
    target = _target(options.out, runs)
    work = _Audit(named, manifests, settings, chosen, options, measuring or MeasureOptions(), observer)
    given = work.gather()
    written = WrittenAudit(write_audit(given, target), target / "tables", given, work.stopped)
    observer.audited(written)
    return written


class _Audit:
    """One audit under way."""

    def __init__(
        self,
        named: Mapping[str, Path],
        manifests: Mapping[str, Manifest],
        settings: AuditSettings,
        chosen: Sequence[str],
        options: AuditOptions,
        measuring: MeasureOptions,
        observer: Observer,
    ) -> None:
        self.named, self.manifests, self.settings, self.chosen = named, manifests, settings, chosen
        self.options, self.measuring, self.observer = options, measuring, observer
        self.stopped: str | None = None
        self._spent = 0.0
        specs = {name: spec_with(manifest, None, measuring) for name, manifest in manifests.items()}
        self._precision = next(iter(specs.values()))["measure"].get("precision", "float32")
        answering = {name: answering_roles(manifest, measuring) for name, manifest in manifests.items()}
        self._roles: dict[str, Mapping[str, Role]] = {name: one.roles for name, one in answering.items()}
        refused = {line for one in answering.values() for line in one.refused.values()}
        split = {name: runnable(chosen, one.roles, one.refused) for name, one in answering.items()}
        self._able = {name: able for name, (able, _) in split.items()}
        self._waiting = {
            metric: line for _, missing in split.values() for metric, line in missing.items() if line in refused
        }
        self._anywhere = [one for one in chosen if any(one in able for able in self._able.values())]
        first = next(iter(split.values()))[1]
        self._not_run = {one: first[one] for one in chosen if one not in self._anywhere}
        # a mistyped path or name is refused before the work
        damage_metric(settings.damage)
        self._rated = read_opinions(options.opinions) if options.opinions is not None else []

    def gather(self) -> AuditReportInput:
        """Measure what is missing, then judge every metric."""
        self._note_not_run()
        if self.options.measure:
            require_some(self._anywhere, self._not_run)
            self._measure()
            self._not_run |= dict.fromkeys(self._anywhere, NO_SCORE)
        opinions, repeated = self._opinions(), self._repeats()
        return audit_report_input(
            list(self.named.values()),
            self.settings,
            wanted=self.chosen,
            not_run=self._not_run,
            repeats=repeated,
            opinions=opinions,
            title=self.options.title or self._title(),
        )

    def _note_not_run(self) -> None:
        missing = self._not_run
        named = [one for one in missing if one in self.options.metrics and one not in SETS]
        if self.options.measure:
            for one in self.options.metrics:
                if one in self._waiting:  # a metric that was asked for by name must not be left out
                    raise StudyError(self._waiting[one])
            for line in sorted(set(self._waiting.values())):
                self.observer.note(f"note: {line}")
        for one in named:
            self.observer.note(f"note: {one} is not run: {missing[one]}")
        others = [one for one in missing if one not in named]
        if others and self.options.measure:
            self.observer.note(
                f"note: {len(others)} of {len(self.chosen)} metrics cannot run here and are listed as not run: "
                f"{', '.join(others)} (cbench list metrics says what they lack)"
            )

    def _measure(self) -> None:
        for name, path in self.named.items():
            with Run.existing(path) as run:
                rate_every_picture(run)
                metrics = [*self._able[name], *_damage_metrics(run, self.settings.damage)]
                done = extend_and_fill(run, metrics, None, self.measuring, self.observer)
                self._spent += run.journal.dollars()
            self.stopped = self.stopped or done.stopped

    def _opinions(self) -> pl.DataFrame | None:
        if not self._rated:
            return None
        import polars as pl

        progress, metrics = Progress(), self._affordable()
        budget = self.measuring.max_cost
        with self.observer.watch("opinions", progress, unit="values", of="lots"):
            rows = list(
                score_opinions(
                    self._rated,
                    metrics,
                    {name: role for roles in reversed(self._roles.values()) for name, role in roles.items()},
                    place=place_for(metrics, self.measuring.device, self._precision),
                    workers=self.measuring.workers,
                    max_cost=None if budget is None else max(0.0, budget - self._spent),
                    progress=progress,
                )
            )
        return pl.DataFrame(rows, schema=list(Opinion._fields), orient="row")

    def _affordable(self) -> list[str]:
        """The metrics to hold against people's ratings; no question is paid for after measuring was stopped."""
        asked = [metric.facts.name for metric in split_metrics(self._anywhere)[1]]
        if not asked:
            return self._anywhere
        names = ", ".join(asked)
        if self.stopped is not None or not self.options.measure:
            why = "--no-measure sends no questions" if self.stopped is None else "measuring stopped"
            self.observer.note(f"note: the rated images are not sent to {names}, because {why}")
            return [one for one in self._anywhere if one not in asked]
        pictures = count(len(self._rated), "rated picture")
        self.observer.note(
            f"note: {pictures} sent to {names} again: answers about them are not kept for the next audit"
        )
        return self._anywhere

    def _repeats(self) -> pl.DataFrame | None:
        number = self.options.repeat
        if number is None:
            number = REPEATED if self.options.measure else 0
        if not number:
            return None
        import polars as pl

        pixels, _ = split_metrics(self._anywhere)
        samples = samples_of(self.named, number)
        gone = [one for one in samples if not ((one.run or Path()) / one.file).is_file()]
        if gone:
            self.observer.note(
                f"note: {len(gone)} of {count(len(samples), 'picture')} to be scored again are not on disk"
                + ("" if len(gone) < len(samples) else "; whether scores repeat is unknown")
            )
            samples = [one for one in samples if one not in gone]
        if not samples or not pixels:
            return None
        many = count(len(samples), "picture"), count(len(pixels), "metric")
        self.observer.say(f"scoring   {many[0]} again by {many[1]}, to check that scores repeat")
        rows = repeats(samples, pixels, place_for(pixels, self.measuring.device, self._precision))
        return pl.DataFrame(rows, schema=list(Repeat._fields), orient="row", infer_schema_length=None)

    def _title(self) -> str:
        titles = {str(one.spec.get("title") or "") for one in self.manifests.values()}
        return titles.pop() if len(titles) == 1 else ""


def _damage_metrics(run: Run, named: str) -> list[str]:
    """What must be measured so that damage is known: the named metric, or SSIM where nothing compares with a source."""
    metric = damage_metric(named)
    measured = measured_metrics(run.journal)
    names = [name for name in run.manifest.metrics if not is_file(name)]
    known = [name for name in names if load_metric(name).facts.kind == "full-reference"]
    there = metric in measured if named else any(name in measured for name in known)
    return [] if there else [metric]


def _settings(manifests: Mapping[str, Manifest], given: Mapping[str, Any], observer: Observer) -> AuditSettings:
    """The first run's constants with those that were given in their place, checked as a study file's."""
    tables = {name: manifest.spec.get("analysis", {}).get("audit", {}) for name, manifest in manifests.items()}
    own, *others = tables.items()
    different = [name for name, table in others if table != own[1] and table]
    if different:
        observer.note(f"note: [analysis.audit] of {', '.join(different)} is not that of {own[0]}, which counts here")
    return audit_settings(next(iter(manifests.values())).spec, **given)


def _own_metrics(named: Mapping[str, Path], manifests: Mapping[str, Manifest]) -> list[str]:
    """What the runs' studies name for an audit; for a study that names none, the whole set."""
    found: dict[str, None] = {}
    for run, one in manifests.items():
        audits = "audit" in study_of(one.study).stages
        own = one.spec.get(one.study, {}).get("metrics", [WHOLE]) if audits else [WHOLE]
        found.update(dict.fromkeys(readable(named[run], name) for name in own))
    return list(found)


def _target(out: Path | None, runs: Sequence[Path]) -> Path:
    target = out or (runs[0] / "audit" if len(runs) == 1 else Path("audit"))
    if target.exists() and not target.is_dir():
        raise StudyError(f"--out {target} is a file; name a folder")
    if is_run(target):
        raise StudyError(f"--out {target} is a run; name another folder, e.g. --out {target / 'audit'}")
    kept = {(run / name).resolve(): run for run in runs for name in KEPT}
    inside = next((run for folder, run in kept.items() if target.resolve().is_relative_to(folder)), None)
    if inside is not None:
        raise StudyError(
            f"--out {target}: {inside} keeps other files there; name another folder, e.g. {inside / 'audit'}"
        )
    # an audit writes its data before its page, so a page without data is somebody else's
    if (target / "index.html").exists() and not (target / "audit.json").is_file():
        raise StudyError(f"--out {target} has an index.html that is not from an audit; name another folder")
    return target
