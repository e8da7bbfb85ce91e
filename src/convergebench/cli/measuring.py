"""`cbench measure`: fill in metrics over a run's stored images, or score files that belong to no run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from convergebench.cli.flags import MOST_WORKERS, dollars

if TYPE_CHECKING:
    from convergebench.images.align import AlignMode
    from convergebench.metrics.place import Place
    from convergebench.roles.base import Role
    from convergebench.roles.trust import Answering
    from convergebench.store.manifest import Manifest
    from convergebench.store.run import Run


@dataclass(frozen=True)
class How:
    """Circumstances of measuring, as they were typed."""

    workers: int | None
    device: str
    precision: str | None
    roles: Path | None
    max_cost: float | None
    trust_roles: bool = False
    """Whether served roles that are found in the run may be asked."""
    own_roles: Mapping[str, Any] = field(default_factory=dict)
    """Roles of the user's own study, where the command has one."""


TRUST = "Also ask the served roles found in the run: send them pictures, and the keys that they name."
"""What `--trust-roles` does, for every command that has it."""


def measure(
    paths: Annotated[list[Path], typer.Argument(help="A run directory, or image files and folders of them.")],
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Metric or set; repeat [default: those of the run's study]"),
    ] = None,
    align: Annotated[
        str | None, typer.Option(help="auto, strict, fit or crop-aware [default: as the run's study says, else auto]")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=MOST_WORKERS, help="Processes [default: all cores]")] = None,
    device: Annotated[str, typer.Option(help="Where networks run: auto, cpu, cuda, cuda:1.")] = "auto",
    precision: Annotated[
        str | None, typer.Option(help="Of networks, float32 or bfloat16 [default: as the study says, else float32]")
    ] = None,
    roles: Annotated[
        Path | None, typer.Option(help="TOML file with [roles.judge] or [roles.rater]: who answers questions.")
    ] = None,
    trust_roles: Annotated[bool, typer.Option("--trust-roles", help=TRUST)] = False,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0, callback=dollars, help="Dollars: stop before the question that would exceed it."),
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option("--reference", "-r", help="Loose files: the image to compare with, or a folder of like names."),
    ] = None,
    instruction: Annotated[
        str, typer.Option(help="Loose files: the words that made them out of the reference, for a judge.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Loose files: FILE.csv or FILE.json [default: CSV on stdout]")
    ] = None,
) -> None:
    """Measure what a run lacks, long after it was made; or score loose image files."""
    from convergebench.cli.aligning import checked
    from convergebench.errors import StudyError
    from convergebench.images.align import DEFAULT
    from convergebench.store.run import is_run

    align = checked(align)
    how = How(workers, device, precision, roles, max_cost, trust_roles)
    runs = [path for path in paths if is_run(path)]
    if not runs:
        from convergebench.cli.scoring import score_files

        score_files(paths, metric or [], align or DEFAULT, reference, instruction, out, how)
        return
    if len(paths) > 1:
        raise StudyError(f"{runs[0]} is a run; measure one run at a time, and loose files apart from it")
    if reference or out or instruction:
        raise StudyError("--reference, --instruction and --out are for loose files; a run has all that itself")
    _measure_run(runs[0], metric, align, how)


def _measure_run(run: Path, metric: list[str] | None, align: str | None, how: How) -> None:
    from convergebench.cli.aligning import tell_sizes
    from convergebench.cli.display import say
    from convergebench.cli.reporting import write_measurements
    from convergebench.errors import StudyError
    from convergebench.store.run import Run

    with Run.existing(run) as opened:
        wanted = _wanted(opened, metric, align)
        if not wanted:
            raise StudyError("this run names no metric yet; add --metric default (cbench list metrics)")
        added, stopped, mode = extend_and_fill(opened, wanted, align, how)
    path, missing = write_measurements(run, list(wanted))
    say(f"{added:,} values added; {path} (next: cbench report {run})")
    if missing:
        say("no value for " + ", ".join(f"{count:,} ({reason})" for reason, count in missing.items()))
    tell_sizes(run, mode)
    if stopped is not None:
        say(f"stopped: {stopped}; nothing is lost, the same command goes on")
        raise typer.Exit(3)


def extend_and_fill(
    opened: Run, wanted: Sequence[str], align: str | None, how: How
) -> tuple[int, str | None, AlignMode]:
    """Make these metrics part of the run, then measure them: rows added, why it stopped, the alignment."""
    from dataclasses import replace

    from convergebench.engine.measure import fingerprints
    from convergebench.metrics import load_metric
    from convergebench.metrics.readiness import require
    from convergebench.store.manifest import command_line, session
    from convergebench.store.rubrics import keep, key_of

    manifest = opened.manifest
    facts = [load_metric(name).facts for name in wanted]
    require(facts)
    _require_one_precision(manifest, how.precision)
    spec = spec_with(manifest, align, how)
    who = who_answers(manifest, how)
    _confirm(who, {one.asks for one in facts})
    mode, place = spec["measure"]["align"], where(wanted, how.device, spec["measure"].get("precision", "float32"))
    found = fingerprints(wanted, precision=place.precision, roles=who.roles)
    known = {key_of(opened.root, manifest.metrics, name): identity for name, identity in found.items()}
    opened.extend(replace(manifest, spec=spec, metrics=known, sessions=[session(command_line())]))
    keep(opened.root, wanted)
    added, stopped = fill(opened, wanted, mode, place, who.roles, workers=how.workers, max_cost=how.max_cost)
    return added, stopped, mode


def who_answers(manifest: Manifest, how: How) -> Answering:
    """The roles that the user gives, and those of the run that need no confirmation or have it."""
    from convergebench.roles.trust import answering

    return answering(manifest.spec.get("roles"), given_roles(how), trusted=how.trust_roles)


def _confirm(who: Answering, asked: Collection[str]) -> None:
    """Stop before a role that the user has not confirmed is asked; say which of the run's are asked on their word."""
    from convergebench.cli.display import say_beside

    who.require(asked)
    for name, line in who.confirmed.items():
        if name in asked:
            say_beside(f"note: the run's own {line}, is asked as you confirmed")


def given_roles(how: How) -> dict[str, Any]:
    """Roles that come from the user: those of the study, under those of `--roles`."""
    return {**how.own_roles, **(read_roles(how.roles) if how.roles is not None else {})}


def fill(
    run: Run,
    metrics: Sequence[str],
    align_mode: AlignMode,
    place: Place,
    roles: Mapping[str, Role],
    *,
    workers: int | None,
    max_cost: float | None,
) -> tuple[int, str | None]:
    """Everything that is missing: first what pixels tell, then what must be asked. Rows added, and why it stopped."""
    from convergebench.cli.display import say, watch
    from convergebench.engine.anchors import measure_anchors
    from convergebench.engine.measure import measure as work_out
    from convergebench.engine.measure import sorted_out
    from convergebench.engine.progress import Progress

    pixels, questions = sorted_out(metrics)
    added = 0
    if pixels or not questions:
        progress = Progress()
        with watch("measuring", progress, unit="values"):
            added = work_out(run, pixels, align_mode=align_mode, workers=workers, progress=progress, place=place)
            measure_anchors(run, pixels, workers=workers, place=place, progress=progress)
    if not questions:
        return added, None
    from convergebench.cli.interrupt import run_asker
    from convergebench.cli.spending import tell_unsettled
    from convergebench.engine.asking import asker_of

    asking = Progress()
    with watch("asking", asking, unit="values", of="comparisons"):
        asked = run_asker(asker_of(run, roles, max_cost=max_cost, progress=asking), run, questions)
    tell_unsettled(run.journal)
    if asked.failed:
        say(f"{asked.failed:,} comparisons got no answer ({asking.note}); the same command asks again")
    return added + asked.added, asked.stopped


def where(metrics: Sequence[str], device: str, precision: str) -> Place:
    """The place for these metrics; torch is looked for only if one of them is a network."""
    from convergebench.metrics import load_metric
    from convergebench.metrics.place import choose

    networks = any(load_metric(name).facts.network for name in metrics)
    return choose(device if networks or device != "auto" else "cpu", precision)


def read_roles(path: Path) -> dict[str, Any]:
    """`[roles.NAME]` tables out of a TOML file, checked."""
    from convergebench.documents import check_document, read_toml
    from convergebench.errors import StudyError
    from convergebench.roles.tables import RoleTable

    content = read_toml(path)
    if set(content) != {"roles"} or not isinstance(content["roles"], dict):
        raise StudyError(f"{path}: write one table per role, [roles.judge] or [roles.rater], and nothing else")
    return {
        name: check_document(table, RoleTable, where=f"{path}: [roles.{name}]").model_dump(mode="json")
        for name, table in content["roles"].items()
    }


def _wanted(opened: Run, metric: list[str] | None, align: str | None) -> list[str]:
    """The metrics asked for; under another alignment all of the run's too, or the report would lose them."""
    from convergebench.metrics import expand
    from convergebench.store.rubrics import readable

    asked, manifest = expand(metric) if metric else [], opened.manifest
    changed = align not in (None, manifest.align)
    others = [name for name in manifest.metrics if name not in asked] if changed or not asked else []
    return list(dict.fromkeys([*asked, *(readable(opened.root, name) for name in others)]))


def _require_one_precision(manifest: Manifest, precision: str | None) -> None:
    """The run remembers one precision; with two, its own networks could never be measured again."""
    from convergebench.errors import StudyError
    from convergebench.metrics import load_metric
    from convergebench.store.rubrics import is_file

    before = manifest.spec.get("measure", {}).get("precision", "float32")
    networks = [name for name in manifest.metrics if not is_file(name) and load_metric(name).facts.network]
    if precision not in (None, before) and networks:
        raise StudyError(
            f"this run's networks ({', '.join(networks)}) measure in {before}, and a run has one precision; "
            f"leave --precision away, or make another run with it (cbench run … --reuse takes the images of this one)"
        )


def spec_with(manifest: Manifest, align: str | None, how: How) -> dict[str, Any]:
    """The run's study with what was typed in place of its own words."""
    spec = dict(manifest.spec)
    typed = {"align": align, "precision": how.precision}
    spec["measure"] = {
        "align": manifest.align,
        **spec.get("measure", {}),
        **{key: word for key, word in typed.items() if word},
    }
    if how.roles is not None:
        found = spec.get("roles")
        spec["roles"] = {**(found if isinstance(found, Mapping) else {}), **given_roles(how)}
    return spec
