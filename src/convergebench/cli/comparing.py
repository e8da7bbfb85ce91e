"""`cbench compare`: two runs on the same cases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from convergebench.cli.reporting import Align


def compare(
    first: Annotated[Path, typer.Argument(metavar="RUN", help="Run to start from, e.g. last week's.")],
    second: Annotated[Path, typer.Argument(metavar="RUN", help="Run to compare with it, e.g. today's.")],
    editor: Annotated[
        str | None, typer.Option("--editor", "-e", help="Only this editor of the first run [default: all in both]")
    ] = None,
    other: Annotated[
        str | None, typer.Option("--with", help="Its counterpart in the second run, if it has another name there.")
    ] = None,
    align: Align = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the page [default: compare/FIRST-SECOND]")] = None,
    no_page: Annotated[bool, typer.Option("--no-page", help="Print only; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON; write nothing.")] = False,
) -> None:
    """What changed from one run to another, on the cases that both have; a change is the second minus the first."""
    import json

    from convergebench.cli.console import PlainConsole
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.comparing import CompareOptions, write_comparison
    from convergebench.conductor.comparing import compare as compare_runs
    from convergebench.report.two_runs.page import comparison_json
    from convergebench.report.two_runs.terminal import print_comparison

    terminal = Terminal()
    given = compare_runs(first, second, CompareOptions(editor, other, align))
    if given.warnings:
        terminal.note(f"warning: not only the editor differs: {'; '.join(given.warnings)}")
    if as_json:
        terminal.say(json.dumps(comparison_json(given), ensure_ascii=False, indent=1, allow_nan=False))
        return
    print_comparison(given, PlainConsole())
    if not no_page:
        terminal.say(f"\npage    {write_comparison(given, out)}")
