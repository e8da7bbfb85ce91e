"""`cbench measure`: fill in metrics over a run's stored images, or score files that belong to no run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from convergebench.cli.flags import MOST_WORKERS, dollars

TRUST = "Also ask the served roles found in the run: sends them images and the keys that they name."
"""Help of `--trust-roles`, for every command that has it."""


def measure(
    paths: Annotated[list[Path], typer.Argument(help="A run directory, or image files and folders.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="Metric, set or your own FILE.py:NAME; repeatable [default: those of the run's study]",
        ),
    ] = None,
    align: Annotated[
        str | None, typer.Option(help="Alignment: auto, strict, fit or crop-aware [default: the study's, else auto]")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=MOST_WORKERS, help="Number of processes [default: all cores]")
    ] = None,
    device: Annotated[str, typer.Option(help="Device for neural networks: auto, cpu, cuda, cuda:1.")] = "auto",
    precision: Annotated[
        str | None,
        typer.Option(help="Precision of neural networks: float32 or bfloat16 [default: the study's, else float32]"),
    ] = None,
    roles: Annotated[
        Path | None,
        typer.Option(help="TOML file with [roles.judge] or [roles.rater]: the model that answers questions."),
    ] = None,
    trust_roles: Annotated[bool, typer.Option("--trust-roles", help=TRUST)] = False,
    max_cost: Annotated[
        float | None,
        typer.Option(
            min=0, callback=dollars, help="Budget in dollars; stops before the question that would exceed it."
        ),
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            "-r",
            help="Loose files: the image to compare with, or a folder of images with the same names.",
        ),
    ] = None,
    instruction: Annotated[
        str, typer.Option(help="Loose files: the instruction that made them from the reference, for a judge.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Loose files: FILE.csv or FILE.json [default: CSV on stdout]")
    ] = None,
) -> None:
    """Add missing measurements to a run at any time, or score loose image files."""
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.alignment import check_alignment
    from convergebench.conductor.measuring import measure as measure_run
    from convergebench.conductor.measuring import read_roles
    from convergebench.conductor.options import MeasureOptions
    from convergebench.errors import StudyError
    from convergebench.store.run import is_run

    align = check_alignment(align)
    options = MeasureOptions(
        workers=workers,
        device=device,
        precision=precision,
        max_cost=max_cost,
        roles=read_roles(roles) if roles is not None else None,
        trust_roles=trust_roles,
    )
    runs = [path for path in paths if is_run(path)]
    if not runs:
        from convergebench.cli.scoring import print_scores

        print_scores(paths, metric or [], out, options, align=align, reference=reference, instruction=instruction)
        return
    if len(paths) > 1:
        raise StudyError(f"{runs[0]} is a run; measure one run at a time, and loose files separately")
    if reference or out or instruction:
        raise StudyError("--reference, --instruction and --out are for loose files; a run has its own")
    terminal = Terminal()
    done = measure_run(runs[0], metric or (), align, options, terminal)
    if done.stopped is not None:
        terminal.say(f"stopped: {done.stopped}; nothing is lost; run the same command to continue")
        raise typer.Exit(3)
