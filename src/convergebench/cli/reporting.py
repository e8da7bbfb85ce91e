"""`cbench report` and `cbench show`: the findings of a run, as pages and in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from convergebench.cli.flags import ALL_PLOTS, PLOTS_HELP, kinds_of, plot_kinds

Align = Annotated[
    str | None,
    typer.Option("--align", help="Use the measurements made with this alignment [default: the run's own]"),
]


Plots = Annotated[str, typer.Option("--plots", envvar="CONVERGEBENCH_PLOTS", callback=plot_kinds, help=PLOTS_HELP)]


def report(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    align: Align = None,
    plots: Plots = ALL_PLOTS,
) -> None:
    """Analyse a run and write its report, plots and tables."""
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.reporting import report as report_run

    report_run(run, align, plots=kinds_of(plots), observer=Terminal())


def show(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    align: Align = None,
    group: Annotated[
        list[str] | None,
        typer.Option("--group", help="Also compare groups of editors: NAME=EDITOR,EDITOR, at least twice."),
    ] = None,
) -> None:
    """Print a run's ranking; works while the run is still in progress."""
    import json

    from convergebench.cli.console import PlainConsole
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.grouping import grouped
    from convergebench.conductor.measuring import note_sizes
    from convergebench.conductor.reporting import analysed
    from convergebench.report.made import alignment
    from convergebench.report.terminal import print_ranking, ranking_json

    given, terminal = analysed(run, align), Terminal()
    groups = grouped(run, group, align) if group else None
    if as_json:
        found = ranking_json(given) | ({"groups": groups.rows} if groups else {})
        terminal.say(json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False))
    else:
        print_ranking(given, PlainConsole())
        for line in groups.sentences if groups else ():
            terminal.say(line)
    note_sizes(run, str(alignment(given.manifest)), terminal)
