"""`cbench audit`: can a quality metric be trusted on pictures that were edited again and again?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from convergebench.cli.flags import MOST_WORKERS, dollars
from convergebench.cli.measuring import TRUST


def audit(
    runs: Annotated[list[Path], typer.Argument(help="Run directories, our own or imported ones.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", help="No-reference metric or set; repeat [default: as the study says, or audit]"
        ),
    ] = None,
    gaps: Annotated[
        str | None, typer.Option(help="Steps to hold against the baseline, e.g. 5,10,20 [default: what chains reach]")
    ] = None,
    baseline: Annotated[
        int | None, typer.Option(min=0, help="Step that the others are held against [default: 1]")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Count whole rounds or every edit: round, step [default: round]")
    ] = None,
    percentile: Annotated[
        list[float] | None, typer.Option(help="Where a filter is set; repeat [default: 5, 25 and 50]")
    ] = None,
    opinions: Annotated[
        Path | None, typer.Option(help="CSV of pictures that people rated: image,mos; paths relative to it.")
    ] = None,
    repeat: Annotated[
        int | None, typer.Option(min=0, help="Pictures scored again to see whether scores repeat [default: 2]")
    ] = None,
    roles: Annotated[Path | None, typer.Option(help="TOML file with [roles.rater]: who answers questions.")] = None,
    trust_roles: Annotated[bool, typer.Option("--trust-roles", help=TRUST)] = False,
    device: Annotated[str, typer.Option(help="Where networks run: auto, cpu, cuda, cuda:1.")] = "auto",
    precision: Annotated[
        str | None, typer.Option(help="Of networks, float32 or bfloat16 [default: as the study says, else float32]")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=MOST_WORKERS, help="Processes [default: all cores]")] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0, callback=dollars, help="Dollars: stop before the question that would exceed it."),
    ] = None,
    no_measure: Annotated[bool, typer.Option("--no-measure", help="Only what is measured already.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for page, tables and plots [default: RUN/audit, or audit]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
) -> None:
    """Hold no-reference metrics against pictures whose decay is known: which notice it, and which reward it?"""
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
        terminal.note(f"stopped: {written.stopped}; nothing is lost, the same command goes on")
        raise typer.Exit(3)


def _constants(
    gaps: str | None, baseline: int | None, by: str | None, percentiles: Sequence[float] | None
) -> dict[str, Any]:
    """Constants given as flags; a bad one is refused by its flag, not by its place in a study file."""
    from convergebench.errors import StudyError

    if by not in (None, "round", "step"):
        raise StudyError(f"--by {by}: say round or step")
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
