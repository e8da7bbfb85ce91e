"""`cbench audit`: can a quality metric be trusted on pictures that were edited again and again?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from convergebench.cli.flags import MOST_WORKERS, dollars
from convergebench.cli.measuring import TRUST


def audit(
    runs: Annotated[list[Path], typer.Argument(help="Run directories, made here or imported.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", help="No-reference metric or metric set; repeatable [default: the study's, else audit]"
        ),
    ] = None,
    gaps: Annotated[
        str | None,
        typer.Option(help="Steps to compare with the baseline, e.g. 5,10,20 [default: as far as the chains go]"),
    ] = None,
    baseline: Annotated[
        int | None, typer.Option(min=0, help="Step that the others are compared with [default: 1]")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Count whole rounds or every edit: round, step [default: round]")
    ] = None,
    percentile: Annotated[
        list[float] | None, typer.Option(help="Percentile at which a filter is set; repeatable [default: 5, 25 and 50]")
    ] = None,
    opinions: Annotated[
        Path | None,
        typer.Option(help="CSV of images rated by people, with columns image,mos; paths are relative to the file."),
    ] = None,
    repeat: Annotated[
        int | None, typer.Option(min=0, help="Images to score again, to check that scores repeat [default: 2]")
    ] = None,
    roles: Annotated[
        Path | None, typer.Option(help="TOML file with [roles.rater]: the model that answers questions.")
    ] = None,
    trust_roles: Annotated[bool, typer.Option("--trust-roles", help=TRUST)] = False,
    device: Annotated[str, typer.Option(help="Device for neural networks: auto, cpu, cuda, cuda:1.")] = "auto",
    precision: Annotated[
        str | None,
        typer.Option(help="Precision of neural networks: float32 or bfloat16 [default: the study's, else float32]"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=MOST_WORKERS, help="Number of processes [default: all cores]")
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(
            min=0, callback=dollars, help="Budget in dollars; stops before the question that would exceed it."
        ),
    ] = None,
    no_measure: Annotated[bool, typer.Option("--no-measure", help="Use only what is already measured.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the page, tables and plots [default: RUN/audit, else audit]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
) -> None:
    """Test no-reference metrics on images with known degradation: which detect it, and which reward it?"""
    import json
    import sys
    from contextlib import nullcontext, redirect_stdout

    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.auditing import audit as audit_runs
    from convergebench.conductor.measuring import read_roles
    from convergebench.conductor.options import AuditOptions, MeasureOptions
    from convergebench.report.audit.summary import audit_json

    constants = _constants(gaps, baseline, by, percentile)
    options = AuditOptions(tuple(metric or ()), not no_measure, repeat, opinions, out, title, constants)
    measuring = MeasureOptions(
        workers=workers,
        device=device,
        precision=precision,
        max_cost=max_cost,
        roles=read_roles(roles) if roles is not None else None,
        trust_roles=trust_roles,
    )
    terminal = Terminal(results=not as_json)
    # with --json, stdout is for the answer alone
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        written = audit_runs(runs, options, measuring, terminal)
    if as_json:
        summary = {"page": str(written.page), **audit_json(written.given)}
        terminal.say(json.dumps(summary, ensure_ascii=False, indent=1, allow_nan=False))
    if written.stopped is not None:
        terminal.note(f"stopped: {written.stopped}; nothing is lost; run the same command to continue")
        raise typer.Exit(3)


def _constants(
    gaps: str | None, baseline: int | None, by: str | None, percentiles: Sequence[float] | None
) -> dict[str, Any]:
    """Constants given as flags; a bad one is refused by its flag, not by its place in a study file."""
    from convergebench.errors import StudyError

    if by not in (None, "round", "step"):
        raise StudyError(f"--by {by}: use round or step")
    for one in percentiles or ():
        if not 0 < one < 100:
            raise StudyError(f"--percentile {one:g}: give a number between 0 and 100, e.g. --percentile 5")
    return {
        "gaps": None if gaps is None else _numbers(gaps),
        "baseline": baseline,
        "by": by,
        "percentiles": percentiles or None,
    }


def _numbers(text: str) -> list[int]:
    from convergebench.errors import StudyError

    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise StudyError(f"--gaps {text}: give whole numbers with commas between them, e.g. --gaps 5,10,20")
    return found
