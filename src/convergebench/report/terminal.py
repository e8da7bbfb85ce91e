"""The ranking in a terminal: fits 80 columns, reads without colour and through a pipe."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from convergebench.analysis.counts import ranking_counts
from convergebench.analysis.sensitivity import sensitivity_sentence
from convergebench.analysis.sequential.result import UntilAnalysis
from convergebench.report.decay_summary import decay_summary
from convergebench.report.input import ReportInput, Row, rows
from convergebench.report.missing import missing_text
from convergebench.report.palette import styles
from convergebench.report.restoration_summary import RestorationSummary, restoration_summary
from convergebench.report.summary import ranking_json
from convergebench.report.wording import (
    count,
    interval,
    middle,
    no_interval,
    no_score,
    number,
    p_value,
    percent,
    rounds_interval,
)

__all__ = ["print_ranking", "ranking_json", "sparkline"]

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.-~=*#@"
_REPLACED = str.maketrans("–−×·…°", "--x*.*") | str.maketrans(
    {"√": "sqrt", "≥": ">=", "≤": "<=", "∞": "inf", "Δ": "gap "}
)
"""Signs and what an ASCII terminal shows instead."""

MOST_SENTENCES = 3
MOST_DIFFERENCES = 8


def sparkline(
    values: Sequence[float | None], *, low: float, high: float, width: int = 10, blocks: str = _BLOCKS
) -> str:
    """At most `width` signs between `low` and `high`; a space where a value is missing."""
    size = min(width, len(values))
    picked = [values[round(place * (len(values) - 1) / max(1, size - 1))] for place in range(size)]
    span = high - low
    signs = []
    for value in picked:
        if value is None or not math.isfinite(value):
            signs.append(" ")
            continue
        share = 1.0 if span <= 0 else (value - low) / span
        signs.append(blocks[min(len(blocks) - 1, max(0, int(share * len(blocks))))])
    return "".join(signs)


def print_ranking(given: ReportInput, console: Console) -> None:
    """Print the finding, the ranking with intervals and a sparkline per editor, the tests, and the notes."""
    plain = not (console.encoding or "").lower().startswith("utf")
    for place, sentence in enumerate(given.analysis.headline[:MOST_SENTENCES]):
        console.print(in_ascii(sentence, plain), style="bold" if place == 0 else "", markup=False, highlight=False)
    restored = restoration_summary(given)
    if restored is not None:
        console.print()
        console.print(_restoration_table(given, restored, plain, console))
    elif not given.ranked:
        why = "no chain was run" if given.chains.height == 0 else "no editor has a finished and measured case"
        if given.results and "comparison" not in given.results:
            why = "the study computes none"
        console.print(f"No ranking: {why}.", markup=False, highlight=False)
    else:
        console.print()
        console.print(_fitting(given, plain, console))
        for line in difference_lines(given):
            console.print(in_ascii(line, plain), markup=False, highlight=False)
    for part in _decay_table(given, plain):
        console.print(part, highlight=False)
    for note in _notes(given):
        console.print(in_ascii(note, plain), style="dim", markup=False, highlight=False)


def difference_lines(given: ReportInput) -> list[str]:
    """Each ranked editor against the next: difference, interval, p, and whether it is significant."""
    found = {frozenset((row["better"], row["worse"])): row for row in rows(given.analysis.pairwise)}
    order = [row["editor"] for row in given.ranked if row["rank"] is not None]
    lines = []
    for one, other in list(pairwise(order))[:MOST_DIFFERENCES]:
        row = found.get(frozenset((one, other)))
        if row is not None:
            ends = interval(row["low"], row["high"], 1)
            holds = "significant" if row["significant"] else "not significant"
            lines.append(
                f"{middle(row['better'], 20)} over {middle(row['worse'], 20)}: {number(row['difference'], 1)}"
                f"{f' ({ends})' if ends else ''}, p {p_value(row['p_holm'])}: {holds}"
            )
    how = "intervals and p hold at any time" if given.result(UntilAnalysis) else "p after Holm"
    return ["", f"Difference in score (paired, {how}):", *lines] if lines else []


def in_ascii(text: str, plain: bool) -> str:
    """The text, in ASCII for a terminal that supports nothing else."""
    return text.translate(_REPLACED).encode("ascii", "replace").decode() if plain else text


def _fitting(given: ReportInput, plain: bool, console: Console) -> Table:
    """The widest of three tables that fits the terminal, or the narrowest."""
    for wide, close in ((True, False), (False, False), (False, True)):
        table = _table(given, plain, wide=wide, close=close)
        if console.measure(table, options=console.options.update(max_width=999)).maximum <= console.width:
            break
    return table


def _table(given: ReportInput, plain: bool, *, wide: bool, close: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold", collapse_padding=close)
    spark = f"{given.headline_metric} 0 to end"
    heads = ("#", "editor", "score", "interval", "done", "undone", "usable", "half-life")
    for name in (*heads, *(("verdict", spark) if wide else (given.headline_metric,))):
        left = name in ("editor", "interval", "verdict", spark, given.headline_metric)
        table.add_column(name, justify="left" if left else "right", no_wrap=True)
    colours = styles(given.editors)
    curves, low, high = _curves(given)
    for row in given.ranked:
        editor = row["editor"]
        name = escape(in_ascii(middle(editor, 18), plain)) + _marks(given, editor)
        blocks = _ASCII if plain else _BLOCKS
        line = sparkline(curves.get(editor, []), low=low, high=high, width=10 if wide else 6, blocks=blocks)
        cells = (
            str(row["rank"] or "-"),
            f"[{colours[editor].light}]{name}[/]",
            in_ascii(number(row["score"], 1), plain),
            in_ascii(interval(row["low"], row["high"], 1) or no_interval(row["n_sources"]), plain),
            *(in_ascii(percent(row[name]), plain) for name in ("done", "undone", "usable_share")),
            in_ascii(_life(row), plain),
            *((row["verdict"] or "unknown",) if wide else ()),
            line,
        )
        table.add_row(*cells)
    return table


def _decay_table(given: ReportInput, plain: bool) -> list[str | Table]:
    """Per editor the onset, the notice and the most frequent failures; empty for a run without decay results."""
    found = decay_summary(given)
    if found is None or not found.lines:
        return []
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    heads = ("editor", "onset", *(("noticed", "delay") if found.asked else ()), "most frequent failures")
    for name in heads:
        table.add_column(name, no_wrap=name != heads[-1], overflow="fold")
    for line in found.lines:
        name = escape(in_ascii(middle(line.editor, 20), plain)) + _marks(given, line.editor)
        notices = (line.noticed, line.delay) if found.asked else ()
        table.add_row(name, *(escape(in_ascii(cell, plain)) for cell in (line.onset, *notices, line.failures)))
    return ["", table, escape(in_ascii(found.note, plain))]


def _restoration_table(given: ReportInput, found: RestorationSummary, plain: bool, console: Console) -> Table:
    """Methods by the first metric, best first, the degraded input on top; a narrow terminal gets fewer columns."""
    heads, last = list(found.heads), len(found.heads) - 1
    for dropped in ((), (last - 1,), (last - 1, 3), (last - 1, 3, last - 2)):
        table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
        kept = [place for place in range(len(heads)) if place not in dropped or place in (0, 1, last)]
        for place in kept:
            table.add_column(escape(in_ascii(heads[place], plain)), justify="right" if place else "left", no_wrap=True)
        for line in found.lines:
            name = escape(in_ascii(middle(line.editor, 22), plain)) + _marks(given, line.editor)
            cells = ("", *(escape(in_ascii(cell, plain)) for cell in line.cells))
            table.add_row(name, *(cells[place] for place in kept if place))
        if console.measure(table, options=console.options.update(max_width=999)).maximum <= console.width:
            break
    return table


def _marks(given: ReportInput, editor: str) -> str:
    """`*`: simulated. `+`: only copies."""
    return ("*" if editor in given.simulated else "") + ("+" if editor in given.uninstructed else "")


def _life(row: Row) -> str:
    life = row["half_life"] or "–"
    span = rounds_interval(row["half_life_low"], row["half_life_high"])
    return f"{life} ({span})" if span and not life.startswith(">") else life


def _curves(given: ReportInput) -> tuple[dict[str, list[float | None]], float, float]:
    """The headline curve of every editor, and one range for all of them."""
    frame = given.analysis.curves
    if frame.height == 0:
        return {}, 0.0, 1.0
    part = frame.filter(pl.col("metric") == given.headline_metric, pl.col("group") == "all").sort("round")
    found: dict[str, list[float | None]] = {}
    for row in part.iter_rows(named=True):
        found.setdefault(row["editor"], []).append(row["mean"])
    known = [value for values in found.values() for value in values if value is not None and math.isfinite(value)]
    return found, min(known, default=0.0), max(known, default=1.0)


def _notes(given: ReportInput) -> list[str]:
    """The notes under the ranking."""
    notes = []
    ranked = given.ranked
    if ranked:
        notes += _count_notes(given, ranked)
        notes += [f"{row['editor']}, image by image: {row['values']}." for row in ranked if row["values"]]
        notes += _absent_note(given)
    if ranked and ranking_counts(given.analysis.ranking).intervals:
        confidence = f"{given.analysis.settings.confidence:.0%}".replace("%", " %")
        notes.append(f"Intervals ({confidence}): over source images, for these edits.")
    if given.result(UntilAnalysis):
        notes.append("No other intervals: they would be for a number of images fixed in advance.")
    restored = restoration_summary(given)
    notes += restored.notes if restored is not None else ()
    order = sensitivity_sentence(given.analysis.sensitivity, given.unit)
    if order:
        notes.append(order)
    if any(row["simulated"] for row in ranked):
        notes.append("* simulated: a programmed baseline, not a model.")
    if any(row["editor"] in given.uninstructed for row in ranked):
        notes.append("+ ignores words: copies the image whatever the instruction says.")
    if any(str(row["half_life"] or "").startswith(">") for row in ranked):
        notes.append(f"> N: censored, the level was not reached in N {given.unit.many}.")
    missing = missing_text(given.measurements)
    if missing:
        notes.append(f"{missing}.")
    if given.not_run:
        notes.append(f"not run: {', '.join(given.not_run)}.")
    return notes


def _absent_note(given: ReportInput) -> list[str]:
    """Which metrics the score does without because they were not measured: with them it has another value."""
    settings = given.analysis.settings
    measured = set(given.analysis.auc["metric"])
    asked = (*settings.quality, *((settings.semantic,) if settings.semantic else ()))
    absent = [name for name in asked if name not in measured]
    if not absent or len(absent) == len(asked):
        return []
    flags = " ".join(f"-m {name}" for name in absent)
    return [
        f"The score is without {' and '.join(absent)}, not measured here; it changes once measured: "
        f"cbench measure {given.run} {flags}"
    ]


def _count_notes(given: ReportInput, ranked: list[Row]) -> list[str]:
    """How many cases the ranking rests on, which editors have no rank and why, what was refused and failed."""
    counts = ranking_counts(given.analysis.ranking)
    notes = [f"No score: {no_score(counts.cases)}."] if not counts.cases else []
    basis = f"n = {count(counts.cases, 'case')} from {count(counts.sources, 'image')}"
    who = "every ranked editor has" if counts.ranked > 1 else "it has"
    out = count(counts.left_out if counts.ranked else 0, "chain")
    notes.append(f"{basis} that {who}; {out} left out.")
    if any(row["rank"] is None and row["reference"] for row in ranked) and counts.ranked:
        notes.append("- no rank: a reference, shown for comparison.")
    least = given.analysis.settings.coverage
    for row in ranked:
        if row["rank"] is None and row["coverage"] is not None and row["coverage"] < least:
            share = f"it covers {percent(row['coverage'])} of the cases and {given.unit.heads}"
            notes.append(f"{row['editor']}: no rank, {share} ({percent(least)} needed).")
        broken = [f"{row[f'n_{word}']} {word}" for word in ("refused", "failed") if row[f"n_{word}"]]
        if broken:
            notes.append(f"{row['editor']}: {' and '.join(broken)} of {count(row['n_chains'], 'chain')}.")
        if row["n_lost"]:
            notes.append(f"{row['editor']}: {count(row['n_lost'], 'image')} lost (could not be measured).")
    return notes
