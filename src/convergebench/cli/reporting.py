"""`cbench report` and `cbench show`: the findings of a run, as pages and in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from convergebench.cli.flags import ALL_PLOTS, PLOTS, PLOTS_HELP, kinds_of, plot_kinds

Align = Annotated[
    str | None,
    typer.Option("--align", help="Under this alignment, if the run was measured under it [default: the run's own]"),
]


Plots = Annotated[str, typer.Option("--plots", envvar="CONVERGEBENCH_PLOTS", callback=plot_kinds, help=PLOTS_HELP)]


def report(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    align: Align = None,
    plots: Plots = ALL_PLOTS,
) -> None:
    """Analyse a run and write its report, plots and tables."""
    write_and_print(run, align, plots=kinds_of(plots))


def show(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    align: Align = None,
) -> None:
    """Print a run's ranking; works while the run is still going."""
    import json

    from convergebench.cli.aligning import checked, tell_sizes
    from convergebench.cli.console import PlainConsole
    from convergebench.cli.display import say
    from convergebench.report.assemble import assemble
    from convergebench.report.made import alignment
    from convergebench.report.terminal import print_ranking, ranking_json

    given = assemble(run, checked(align))
    if as_json:
        say(json.dumps(ranking_json(given), ensure_ascii=False, indent=1, allow_nan=False))
    else:
        print_ranking(given, PlainConsole())
    tell_sizes(run, str(alignment(given.manifest)))


def write_and_print(run: Path, align: str | None = None, *, plots: Sequence[str] = PLOTS) -> None:
    """Tables, plots and pages of a run, then its ranking and where to look."""
    from convergebench.cli.aligning import checked, tell_sizes
    from convergebench.cli.console import PlainConsole
    from convergebench.cli.display import say
    from convergebench.report.assemble import assemble
    from convergebench.report.html import write_report
    from convergebench.report.latex import write_latex
    from convergebench.report.made import alignment
    from convergebench.report.plots import write_plots
    from convergebench.report.tables import write_tables
    from convergebench.report.terminal import print_ranking

    given = assemble(run, checked(align))
    write_tables(given, run / "tables")
    write_latex(given, run / "tables")
    write_plots(given, run / "report" / "plots", plots)
    page = write_report(given, run / "report")
    print_ranking(given, PlainConsole())
    say(f"\nreport  {page}\ntables  {run / 'tables'}\nnext    open the report, or: cbench show {run} --json")
    tell_sizes(run, str(alignment(given.manifest)))


def write_measurements(run: Path, metrics: list[str]) -> tuple[Path, dict[str, int]]:
    """The tables alone; where the measurements are, and how many of these metrics lack a value for which reason."""
    from convergebench.metrics import load_metric
    from convergebench.report.assemble import assemble
    from convergebench.report.tables import write_tables

    given = assemble(run)
    write_tables(given, run / "tables")
    rows, names = given.measurements, [load_metric(name).facts.name for name in metrics]
    missing = rows.filter(rows["metric"].is_in(names) & (rows["status"] != "ok"))
    reasons = missing.group_by("status").len().sort("status")
    return run / "tables" / "measurements.parquet", dict(reasons.iter_rows())
