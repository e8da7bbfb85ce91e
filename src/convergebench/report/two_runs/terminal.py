"""The comparison in a terminal: fits 80 columns, reads without colour and through a pipe."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from convergebench.report.input import Row
from convergebench.report.terminal import in_ascii
from convergebench.report.two_runs.input import TwoRunsInput, pair_name
from convergebench.report.two_runs.wording import finding, is_sure, notes, ordered, signed, test_text
from convergebench.report.two_runs.worst import worst_cases
from convergebench.report.wording import better, interval, middle, no_interval, number, p_value

NAME = 22


def print_comparison(given: TwoRunsInput, console: Console) -> None:
    """The finding, scores, metrics, half-lives, the cases that lost most, and the notes."""
    plain = not (console.encoding or "").lower().startswith("utf")

    def say(text: str, style: str = "") -> None:
        console.print(in_ascii(text, plain), style=style, markup=False, highlight=False)

    say(finding(given), "bold")
    say(f"Change = {given.names[1]} minus {given.names[0]}, on the same cases.", "dim")
    console.print()
    console.print(_scores(given, plain))
    for title, table in (("Metrics", _metrics(given, plain)), ("Half-lives", _half_lives(given, plain))):
        if table.row_count:
            say(f"\n{title}")
            console.print(table)
    worst = worst_cases(given)
    if worst:
        say(f"\nWorst {'case' if len(worst) == 1 else f'{len(worst)} cases'}, by change of score")
    for one in worst:
        say(f"{signed(one.row['change']):>6}  {_case(one.row)}")
        for run, picture in ((given.first, one.first), (given.second, one.second)):
            path = f"        {run.root / picture.file if picture else f'{run.root}: no picture'}"
            # whole, so that it can be copied
            console.print(in_ascii(path, plain), style="dim", markup=False, highlight=False, soft_wrap=True)
    console.print()
    for note in notes(given):
        say(note, "dim")
    say("p: sign-flip test over images; of scores after Holm, of single metrics each on its own.", "dim")


def _case(row: Row) -> str:
    again = f", replicate {row['replicate']}" if row["replicate"] else ""
    return f"{pair_name(row)}: {row['source']}, {row['pair']}{again}"


def _table(*heads: str, left: int = 1) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place < left else "right", no_wrap=True)
    return table


def _scores(given: TwoRunsInput, plain: bool) -> Table:
    percent = f"{100 * given.settings.confidence:.3g} %"
    table = _table("editor", "first", "second", "change", percent, "p", "cases", "images")
    for row in ordered(given):
        cells = (
            f"{middle(pair_name(row), NAME)}{'*' if is_sure(row, given) else ''}",
            number(row["score_first"], 1),
            number(row["score_second"], 1),
            signed(row["change"]),
            interval(row["low"], row["high"], 1) or no_interval(row["n_sources"]) or "–",
            test_text(row),
            str(row["n_cases"]),
            str(row["n_sources"]),
        )
        table.add_row(*(escape(in_ascii(cell, plain)) for cell in cells))
    return table


def _metrics(given: TwoRunsInput, plain: bool) -> Table:
    percent = f"{100 * given.settings.confidence:.3g} %"
    several = given.change.editors.height > 1
    table = _table(*(("editor",) if several else ()), "metric", "of", "first", "second", "change", percent, "p",
                   left=3 if several else 2)  # fmt: skip
    last = ""
    for row in given.change.metrics.to_dicts():
        name = middle(pair_name(row), 15)
        arrow = "" if row["what"] == "retention" else f" {better(row['metric'], given.facts)}"
        cells = (
            *(("" if name == last else name,) if several else ()),
            middle(row["metric"], 12),
            f"{'retained' if row['what'] == 'retention' else middle(row['what'], 8)}{arrow}".rstrip(),
            number(row["mean_first"], 3),
            number(row["mean_second"], 3),
            signed(row["change"], 3),
            interval(row["low"], row["high"], 3) or no_interval(row["n_sources"]) or "–",
            p_value(row["p"]),
        )
        last = name
        table.add_row(*(escape(in_ascii(cell, plain)) for cell in cells))
    return table


def _half_lives(given: TwoRunsInput, plain: bool) -> Table:
    percent = f"{100 * given.settings.confidence:.3g} %"
    several = given.change.editors.height > 1
    table = _table(*(("editor",) if several else ()), "metric", "median", f"mean of {given.unit.heads}", "change",
                   percent, "p", "cases", left=2 if several else 1)  # fmt: skip
    last = ""
    for row in given.change.half_lives.to_dicts():
        name = middle(pair_name(row), 15)
        cells = (
            *(("" if name == last else name,) if several else ()),
            middle(row["metric"], 12),
            f"{row['half_life_first']} → {row['half_life_second']}",
            f"{number(row['mean_first'], 1)} → {number(row['mean_second'], 1)}",
            signed(row["change"]),
            interval(row["low"], row["high"], 1) or no_interval(row["n_sources"]) or "–",
            p_value(row["p"]),
            str(row["n_cases"]),
        )
        last = name
        table.add_row(*(escape(in_ascii(cell, plain)) for cell in cells))
    return table
