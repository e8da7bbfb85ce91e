"""Measuring a run: make metrics part of it, then fill in every value that is missing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from convergebench.backends.base import Backend
from convergebench.backends.local import LOCAL
from convergebench.conductor.alignment import check_alignment, sizes_note
from convergebench.conductor.editing import note_unsettled
from convergebench.conductor.growing import keep_own
from convergebench.conductor.interrupt import run_interruptibly
from convergebench.conductor.observer import Observer
from convergebench.conductor.options import MeasureOptions
from convergebench.documents import check_document, read_toml
from convergebench.engine.channel import Stopped
from convergebench.errors import StudyError
from convergebench.images.align import AlignMode
from convergebench.measuring.alongside import MeasuringAlongside
from convergebench.measuring.anchors import measure_anchors
from convergebench.measuring.asking import asker_of, fill_in
from convergebench.measuring.measure import fingerprints, split_metrics
from convergebench.measuring.measure import measure as measure_pixels
from convergebench.metrics import expand, load_metric
from convergebench.metrics.place import Place
from convergebench.metrics.readiness import require
from convergebench.progress import Progress
from convergebench.roles.base import Role
from convergebench.roles.tables import RoleTable
from convergebench.roles.trust import AvailableRoles, available_roles
from convergebench.store.manifest import Manifest, command_line, session
from convergebench.store.rubrics import is_file, is_function, key_of, readable
from convergebench.store.run import Run


@dataclass(frozen=True)
class Measured:
    """What measuring added to a run."""

    added: int
    """Rows; a value that cannot be had is a row with a status."""
    stopped: str | None
    """Why it ended before its time, or None."""
    align: AlignMode
    table: Path | None = None
    """The measurements as a Parquet file."""
    missing: Mapping[str, int] | None = None
    """Status → how many values the metrics lack for that reason."""


def measure(
    root: Path,
    metrics: Sequence[str] = (),
    align: str | None = None,
    options: MeasureOptions | None = None,
    observer: Observer | None = None,
) -> Measured:
    """Fill in what a run lacks of these metrics (or sets), or of its own where none is named; write its tables."""
    from convergebench.conductor.reporting import write_measurements

    options, observer = options or MeasureOptions(), observer or Observer()
    align = check_alignment(align)
    with Run.existing(root) as run:
        chosen = _chosen(run, metrics, align)
        left = [name for name in run.manifest.metrics if is_function(name) and name not in chosen]
        if left and not metrics:
            observer.note(f"note: functions are measured when they are named: cbench measure {root} --metric {left[0]}")
        if not chosen:
            raise StudyError("this run has no metric yet; add --metric default (cbench list metrics)")
        done = extend_and_fill(run, chosen, align, options, observer)
    table, missing = write_measurements(root, chosen)
    observer.say(f"{done.added:,} values added; {table} (next: cbench report {root})")
    if missing:
        observer.say("no value for " + ", ".join(f"{count:,} ({reason})" for reason, count in missing.items()))
    note_sizes(root, done.align, observer)
    return replace(done, table=table, missing=missing)


def note_sizes(root: Path, align: str, observer: Observer) -> None:
    """Tell where a strict alignment left pictures without a value."""
    line = sizes_note(root, align)
    if line:
        observer.note(line)


def extend_and_fill(
    run: Run, metrics: Sequence[str], align: str | None, options: MeasureOptions, observer: Observer
) -> Measured:
    """Make these metrics part of an open run, then measure them."""
    manifest = run.manifest
    facts = [load_metric(name).facts for name in metrics]
    require(facts)
    require_one_precision(manifest, options.precision)
    spec = spec_with(manifest, align, options)
    roles = answering_roles(manifest, options)
    _confirm(roles, {one.asks for one in facts}, observer)
    mode = spec["measure"]["align"]
    place = place_for(metrics, options.device, spec["measure"].get("precision", "float32"))
    found = fingerprints(metrics, precision=place.precision, roles=roles.roles)
    known = {key_of(run.root, manifest.metrics, name): identity for name, identity in found.items()}
    run.extend(replace(manifest, spec=spec, metrics=known, sessions=[session(command_line())]))
    keep_own(run.root, metrics)
    added, stopped = fill(
        run, metrics, mode, place, roles.roles, workers=options.workers, max_cost=options.max_cost, observer=observer
    )
    return Measured(added, stopped, mode)


def answering_roles(manifest: Manifest, options: MeasureOptions) -> AvailableRoles:
    """The roles that the user gives, and those of the run that need no confirmation or have it."""
    return available_roles(manifest.spec.get("roles"), options.given_roles, trusted=options.trust_roles)


def _confirm(roles: AvailableRoles, asked: Collection[str], observer: Observer) -> None:
    """Stop before a role is asked that the user has not confirmed; say which of the run's own are asked."""
    roles.require(asked)
    for name, line in roles.confirmed.items():
        if name in asked:
            observer.note(f"note: the run's own {line}, is asked, as you confirmed")
    for name in sorted(asked & roles.roles.keys()):
        for line in roles.roles[name].notices:
            observer.note(f"note: {line}")


def fill(
    run: Run,
    metrics: Sequence[str],
    align: AlignMode,
    place: Place,
    roles: Mapping[str, Role],
    *,
    workers: int | None,
    max_cost: float | None,
    observer: Observer,
    begun: MeasuringAlongside | None = None,
    report_seconds: float | None = None,
    backend: Backend = LOCAL,
) -> tuple[int, str | None]:
    """Everything that is missing, pixels first, then questions: rows added, and why it stopped.

    `begun` is measuring that went on alongside editing; what it has not done is done here. `report_seconds`: roughly
    how long the report takes that comes afterwards, if one does.
    """
    pixels, questions = split_metrics(metrics)
    added = 0
    if pixels or not questions:
        progress = Progress() if begun is None else begun.progress
        if report_seconds is not None:
            progress.then, progress.then_seconds = "the report", report_seconds
        with observer.watch("measuring", progress, unit="values"):
            added = 0 if begun is None else begun.finish()
            how: dict[str, Any] = {"workers": workers, "place": place, "progress": progress, "backend": backend}
            added += measure_pixels(run, pixels, align_mode=align, **how)
            measure_anchors(run, pixels, **how)
    if not questions:
        return added, None
    asking = Progress()
    asker = asker_of(run, roles, max_cost=max_cost, progress=asking)
    with observer.watch("asking", asking, unit="values", of="comparisons"):
        asked, _ = run_interruptibly(
            fill_in(asker, run, questions), lambda reason: asker.stop(Stopped(reason)), asking, observer
        )
    note_unsettled(run.journal, observer)
    if asked.failed:
        observer.say(f"{asked.failed:,} comparisons got no answer ({asking.note}); the same command asks again")
    return added + asked.added, asked.stopped


def place_for(metrics: Sequence[str], device: str, precision: str, backend: Backend = LOCAL) -> Place:
    """Where these metrics run."""
    return backend.place(device, precision, networks=any(load_metric(name).facts.network for name in metrics))


def read_roles(path: Path) -> dict[str, Any]:
    """`[roles.NAME]` tables out of a TOML file, checked."""
    content = read_toml(path)
    if set(content) != {"roles"} or not isinstance(content["roles"], dict):
        raise StudyError(f"{path}: write one table per role, [roles.judge] or [roles.rater], and nothing else")
    return {
        name: check_document(table, RoleTable, where=f"{path}: [roles.{name}]").model_dump(mode="json")
        for name, table in content["roles"].items()
    }


def _chosen(run: Run, metrics: Sequence[str], align: str | None) -> list[str]:
    """The metrics asked for; under another alignment all of the run's too, or the report would lose them."""
    asked, manifest = expand(metrics) if metrics else [], run.manifest
    changed = align not in (None, manifest.align)
    # a run does not choose which code is loaded
    own = [name for name in manifest.metrics if name not in asked and not is_function(name)]
    others = own if changed or not asked else []
    return list(dict.fromkeys([*asked, *(readable(run.root, name) for name in others)]))


def require_one_precision(manifest: Manifest, precision: str | None) -> None:
    """A run has one precision; with two, its own networks could never be measured again."""
    before = manifest.spec.get("measure", {}).get("precision", "float32")
    networks = [name for name in manifest.metrics if not is_file(name) and load_metric(name).facts.network]
    if precision not in (None, before) and networks:
        raise StudyError(
            f"this run's networks ({', '.join(networks)}) measure in {before}, and a run has one precision; leave "
            f"--precision out, or make another run with it (cbench run … --reuse takes the images of this one)"
        )


def spec_with(manifest: Manifest, align: str | None, options: MeasureOptions) -> dict[str, Any]:
    """The run's study with what the command says in place of its own values."""
    spec = dict(manifest.spec)
    given = {"align": align, "precision": options.precision}
    spec["measure"] = {
        "align": manifest.align,
        **spec.get("measure", {}),
        **{key: value for key, value in given.items() if value},
    }
    if options.roles is not None:
        found = spec.get("roles")
        spec["roles"] = {**(found if isinstance(found, Mapping) else {}), **options.given_roles}
    return spec
