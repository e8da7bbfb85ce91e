"""`cbench run`: edit, measure, report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from convergebench.cli.flags import ALL_PLOTS, MOST_WORKERS, dollars, kinds_of
from convergebench.cli.reporting import Plots

if TYPE_CHECKING:
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.running import RunOutcome

EDITOR = (
    "Editor to use instead of the study's: a name of `cbench list editors`, a nickname, PROVIDER:MODEL, "
    "module:Class or an expression such as 'paste-back(sim-jpeg)'; repeat for more."
)


def run(
    study: Annotated[Path, typer.Argument(help="Study file, e.g. studies/roundtrip.toml.")],
    run: Annotated[
        Path | None, typer.Option("--run", help="Run directory, new or to go on with [default: runs/STUDY]")
    ] = None,
    editor: Annotated[list[str] | None, typer.Option("--editor", "-e", help=EDITOR)] = None,
    suite: Annotated[str | None, typer.Option(help="Suite, folder or manifest instead of the study's.")] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", "--steps", min=1, help="Rounds, or steps, instead of the study's.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many images, evenly by kind.")] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Leave out pictures of the suite that were not fetched, and name them.")
    ] = False,
    metric: Annotated[list[str] | None, typer.Option("--metric", "-m", help="Metrics instead of the study's.")] = None,
    align: Annotated[
        str | None,
        typer.Option(
            help="How sizes are made comparable: auto, strict, fit or crop-aware [default: as the study says, else as "
            "the run was begun, else auto]"
        ),
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, callback=dollars, help="Dollars: stop before the call that would exceed it.")
    ] = None,
    reuse: Annotated[list[Path] | None, typer.Option(help="Answer from this other run where it can; repeat.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=MOST_WORKERS, help="Processes for measuring [default: all cores]")
    ] = None,
    device: Annotated[str, typer.Option(help="Where networks that measure run: auto, cpu, cuda, cuda:1.")] = "auto",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print cases, calls, dollars, hours; do nothing.")] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Edit and measure only.")] = False,
    plots: Plots = ALL_PLOTS,
    track: Annotated[
        str | None,
        typer.Option(help="Also tell a tracker: tensorboard, mlflow or wandb [default: the study's, or none]"),
    ] = None,
) -> None:
    """Run a study; run the same command again to go on after a stop, or with more rounds, images or editors to grow."""
    from convergebench.cli.forecasting import print_forecast
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor import running
    from convergebench.conductor.alignment import alignment_for, check_alignment
    from convergebench.conductor.options import RunOptions
    from convergebench.conductor.study import require_names, with_changes
    from convergebench.studies.spec import read_spec

    root = run or Path("runs") / study.stem
    require_names(root, study)
    written = read_spec(study)
    spec = with_changes(
        written,
        editors=editor or (),
        suite=suite,
        rounds=rounds,
        limit=limit,
        partial=partial or None,
        metrics=metric or (),
        align=alignment_for(written, check_alignment(align), root),
    )
    planned, terminal = running.plan(spec, root), Terminal()
    if dry_run:
        print_forecast(root, planned.prepared)
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
    )
    _end(running.run(planned, options, terminal), terminal)


def _end(outcome: RunOutcome, terminal: Terminal) -> None:
    """The last lines and the exit code: 130 after Ctrl-C, 1 if every chain failed, 3 if it stopped before its time."""
    if outcome.interrupted:
        terminal.say(f"stopped: {outcome.stopped}. Nothing is lost; the same command goes on")
        raise typer.Exit(130)
    if outcome.failed:
        terminal.note(f"error: {outcome.failed}; see the reason above")
        raise typer.Exit(1)
    if outcome.stopped is not None:
        terminal.say(f"stopped: {outcome.stopped}")
        terminal.say("what was measured so far is kept; to go on, run the same command with a higher --max-cost"
                     if "--max-cost" in outcome.stopped else "to go on, run the same command again")  # fmt: skip
        raise typer.Exit(3)
