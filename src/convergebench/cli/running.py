"""`cbench run`: edit, measure, report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from convergebench.cli.flags import ALL_PLOTS, MOST_WORKERS, dollars, kinds_of
from convergebench.cli.reporting import Plots
from convergebench.cli.storing import CacheMb, Store
from convergebench.redaction import redact

if TYPE_CHECKING:
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.gating import GateOptions
    from convergebench.conductor.running import Plan, RunOutcome

EDITOR = (
    "Editor to use instead of the study's: a name of `cbench list editors`, a nickname, PROVIDER:MODEL, your own "
    "function or class (FILE.py:NAME or MODULE:NAME), or an expression such as 'paste-back(sim-jpeg)'; repeatable."
)


def run(
    study: Annotated[Path, typer.Argument(help="Study file, or a shipped study's name, e.g. demo-light.")],
    run: Annotated[
        Path | None, typer.Option("--run", help="Run directory, new or to be continued [default: runs/STUDY]")
    ] = None,
    editor: Annotated[list[str] | None, typer.Option("--editor", "-e", help=EDITOR)] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option("--pair", "-p", help="Edit pair, category, set or pairs file instead of the study's; repeatable."),
    ] = None,
    suite: Annotated[str | None, typer.Option(help="Suite, folder or manifest to use instead of the study's.")] = None,
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", "--steps", min=1, help="Number of rounds (or steps) instead of the study's."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Use at most this many images, balanced over kinds.")] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Leave out images of the suite that were not fetched, and list them.")
    ] = False,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", help="Metric, set or your own FILE.py:NAME to use instead of the study's; repeatable."
        ),
    ] = None,
    align: Annotated[
        str | None,
        typer.Option(
            help="How images of different sizes are aligned: auto, strict, fit or crop-aware [default: the study's, "
            "else the run's, else auto]"
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0, callback=dollars, help="Budget in dollars; stops before the call that would exceed it."),
    ] = None,
    reuse: Annotated[
        list[Path] | None, typer.Option(help="Reuse answers of this other run where they match; repeatable.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=MOST_WORKERS, help="Number of processes for measuring [default: all cores]")
    ] = None,
    device: Annotated[str, typer.Option(help="Device for the networks of metrics: auto, cpu, cuda, cuda:1.")] = "auto",
    backend: Annotated[
        str, typer.Option(help="Where editors and metrics work: local (this machine) or ray (a cluster's machines).")
    ] = "local",
    address: Annotated[
        str | None,
        typer.Option(help="With --backend ray: HOST:PORT of the cluster [default: this machine's, else a new one]"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print cases, calls, dollars and hours, and stop.")
    ] = False,
    until: Annotated[
        str | None,
        typer.Option(help="decided: run images in random order until the question of the study's [until] is decided."),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=100,
            help="With --until: smallest difference of interest in points [default: the study's, or 5]",
        ),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Edit and measure only.")] = False,
    plots: Plots = ALL_PLOTS,
    fail_under: Annotated[
        float | None, typer.Option(help="Exit with 4 unless every editor's score (0 to 100) is at least this.")
    ] = None,
    no_worse_than: Annotated[
        Path | None,
        typer.Option(help="Exit with 4 if an editor scores significantly worse than in this run, on common cases."),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the checks as JUnit XML, a case per editor.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the checks with their numbers as JSON.")
    ] = None,
    track: Annotated[
        str | None,
        typer.Option(help="Also log to a tracker: tensorboard, mlflow or wandb [default: the study's, or none]"),
    ] = None,
    store: Store = None,
    cache_mb: CacheMb = None,
) -> None:
    """Run a study. Run the same command again to continue after a stop, or to add rounds, images or editors."""
    from convergebench.backends.find import check_backend
    from convergebench.cli.forecasting import print_forecast
    from convergebench.cli.results import NOT_PASSED, require_place
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor import running
    from convergebench.conductor.alignment import alignment_for, check_alignment
    from convergebench.conductor.gating import GateOptions, require_gates
    from convergebench.conductor.options import RunOptions
    from convergebench.conductor.storing import check_store
    from convergebench.conductor.study import require_names, with_changes
    from convergebench.studies.shipped import find_study
    from convergebench.studies.spec import read_spec

    root = run or Path("runs") / study.stem
    require_names(root, study)
    check_backend(backend, address or "")
    file = find_study(study)
    written = read_spec(file)
    spec = with_changes(
        written,
        editors=editor or (),
        suite=suite,
        rounds=rounds,
        limit=limit,
        partial=partial or None,
        metrics=metric or (),
        pairs=pair or (),
        align=alignment_for(written, check_alignment(align), root),
        difference=difference,
    )
    planned, terminal = running.plan(spec, root, until=until), Terminal()
    if file != study:
        terminal.note(f"note: {study} is the study that comes with the package: {file}")
    gates = GateOptions(fail_under, no_worse_than)
    require_gates(planned, gates)
    require_place(junit, "--junit")
    require_place(json_file, "--json")
    check_store(root, store or "", cache_mb, dry=dry_run)
    if dry_run:
        print_forecast(root, planned.prepared, planned.until)
        for line in (*planned.stage_lines, *(f"note: {line}" for line in planned.notes)):
            terminal.say(line)
        return
    options = RunOptions(
        max_cost=max_cost,
        reuse=tuple(reuse or ()),
        workers=workers,
        device=device,
        report=not no_report,
        plots=kinds_of(plots),
        track=track or "",
        backend=backend,
        address=address or "",
        store=store or "",
        cache_mb=cache_mb,
    )
    outcome = running.run(planned, options, terminal)
    passed = True
    if gates.asked or junit or json_file:
        passed = _checked(planned, outcome, gates, terminal, junit=junit, json_file=json_file)
    _end(outcome, terminal)
    if not passed:
        raise typer.Exit(NOT_PASSED)


def _checked(
    planned: Plan,
    outcome: RunOutcome,
    gates: GateOptions,
    terminal: Terminal,
    *,
    junit: Path | None,
    json_file: Path | None,
) -> bool:
    """Say how the checks ended and write their files; whether all passed. A run that was stopped has no verdict."""
    import json

    from convergebench.cli.results import NOT_PASSED, results_json, results_junit
    from convergebench.conductor.gating import check_run
    from convergebench.store.images import write_synced

    if outcome.interrupted:
        return True
    prepared = planned.prepared
    stopped = outcome.stopped or (f"{outcome.failed}: {outcome.reason}" if outcome.failed else None)
    checks = [] if stopped else check_run(planned.root, list(prepared.editors), gates)
    passed = not stopped and all(one.outcome != "failed" for one in checks)
    passed = passed and any(one.outcome == "passed" for one in checks)
    if gates.asked:
        for one in checks:
            if one.outcome == "failed" or one.name not in ("delivered", "reference"):
                terminal.say(f"{one.outcome:<7} {one.editor}: {one.message}")
            elif one.outcome == "skipped":
                terminal.say(f"skipped {one.editor}: {one.message}")
    code = 0 if passed else (1 if outcome.failed else 3) if stopped else NOT_PASSED if gates.asked else 0
    reason = redact(stopped) if stopped else None
    if junit:
        write_synced(junit, redact(results_junit(planned.root, prepared.study, checks, stopped=reason)).encode())
    if json_file:
        found = results_json(planned.root, prepared.study, checks, code=code, stopped=reason)
        write_synced(json_file, redact(json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False)).encode())
    return passed or not gates.asked


def _end(outcome: RunOutcome, terminal: Terminal) -> None:
    """The last lines and the exit code: 130 after Ctrl-C, 1 if every chain failed, 3 if it stopped before its time."""
    if outcome.interrupted:
        terminal.say(f"stopped: {outcome.stopped}. Nothing is lost; run the same command to continue")
        raise typer.Exit(130)
    if outcome.failed:
        terminal.note(redact(f"error: {outcome.reason or 'no reason was given'} ({outcome.failed})"))
        raise typer.Exit(1)
    if outcome.stopped is not None:
        terminal.say(f"stopped: {outcome.stopped}")
        terminal.say("what was measured so far is kept; to continue, run the same command with a higher --max-cost"
                     if "--max-cost" in outcome.stopped else "to continue, run the same command again")  # fmt: skip
        raise typer.Exit(3)
