"""The audit in a terminal: fits 80 columns, reads without colour and through a pipe."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from convergebench.analysis.audit.settings import OFTEN
from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.audit.numbers import decided, few_clean, first_risk, share_text, step_rank
from convergebench.report.audit.page import AuditPage, not_run_reasons, open_page
from convergebench.report.input import Row, rows
from convergebench.report.terminal import in_ascii
from convergebench.report.wording import interval, middle, no_interval, number

COLOURS = {"sound": "green", "often fooled": "yellow", "rewards damage": "red"}


def print_audit(given: AuditReportInput, console: Console) -> None:
    """Print the finding, one line per metric, what was not run and why, and the notes."""
    page = open_page(given)
    plain = not (console.encoding or "").lower().startswith("utf")

    def say(text: str, style: str = "") -> None:
        console.print(in_ascii(text, plain), style=style, markup=False, highlight=False)

    for place, sentence in enumerate(given.audit.headline[:3]):
        say(sentence, "bold" if place == 0 else "")
    if page.audited:
        console.print()
        console.print(_table(page, plain))
        say(_legend(page), "dim")
    else:
        say("No metric was scored.", "bold" if not given.audit.headline else "")
    for why, names in not_run_reasons(page, most=2):
        say(f"not run ({len(names)}): {', '.join(names)}: {why}", "dim")
    for note in given.audit.notes:
        if not note.lower().startswith("not run"):  # printed above, with every name
            say(note, "dim")


def _table(page: AuditPage, plain: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    heads = ("metric", "verdict", "fail", "interval %", "any", "ratio", "pass", "rank")
    for name in heads:
        table.add_column(name, justify="left" if name in heads[:2] else "right", no_wrap=True)
    for row in page.audited:
        cells = [in_ascii(cell, plain) for cell in _cells(page, row)]
        colour = COLOURS.get(row["verdict"], "")
        words = escape(cells[1])
        table.add_row(escape(cells[0]), f"[{colour}]{words}[/]" if colour else words, *map(escape, cells[2:]))
    return table


def _cells(page: AuditPage, row: Row) -> list[str]:
    metric = row["metric"]
    confound = next(iter(rows(page.given.audit.confound, metric=metric)), None)
    rank = step_rank(page, metric)
    low, high = row["low"], row["high"]
    band = "" if low is None or high is None else interval(100 * low, 100 * high, 0)
    return [
        middle(metric, 16),
        row["verdict"],
        f"{row['n_failed']}/{decided(row)}",
        band or no_interval(row["n_sources"]) or "–",
        str(row["n_failed_any"]),
        number(confound["ratio"], 2) if confound else "–",
        share_text(first_risk(page, metric)),
        number(rank["rho"], 2) if rank else "–",
    ]


def _legend(page: AuditPage) -> str:
    """The meaning of the column heads."""
    settings = page.given.audit.settings
    gaps, one = ", ".join(map(str, page.gaps)), page.unit.one
    if not page.gaps:
        return f"No later {one} to compare with {settings.baseline}; rank: of the score with the {one}, -1 is right."
    legend = f"fail: images rated no worse at {one} {gaps} than at {settings.baseline}, of those that could be "
    legend += (
        f"told ({settings.confidence:.0%} interval; verdicts go by it: often is {OFTEN:.0%} or more for sure, fewer "
    )
    legend += f"than {FEWEST_SOURCES} images are too few to tell); any: in any single run; ratio: damage over content"
    tried = next((risk for row in page.audited if (risk := first_risk(page, row["metric"])) is not None), None)
    if tried is not None and tried["share"] is not None:
        legend += f"; pass: share at {one} {tried['at']} that a filter at {tried['percentile']:g} % lets through"
    elif tried is not None:
        legend += f"; pass: too few to set a filter, {few_clean(tried)}"
    return f"{legend}; rank: of the score with the {one}, -1 is right."
