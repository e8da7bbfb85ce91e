"""The ranking in a terminal: fits 80 columns, reads without colour and through a pipe."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from convergebench.report.breaks import breaks
from convergebench.report.input import ReportInput, Row
from convergebench.report.missing import missing_text
from convergebench.report.palette import styles
from convergebench.report.summary import ranking_json
from convergebench.report.wording import count, interval, middle, no_interval, no_score, number, rounds_interval

__all__ = ["print_ranking", "ranking_json", "sparkline"]

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.-~=*#@"


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
    """The finding, the ranking with intervals and a spark-line per editor, and what to mind about it."""
    plain = not (console.encoding or "").lower().startswith("utf")
    for place, sentence in enumerate(given.analysis.headline[:2]):
        console.print(in_ascii(sentence, plain), style="bold" if place == 0 else "", markup=False, highlight=False)
    if not given.ranked:
        why = "no chain was run" if given.chains.height == 0 else "no editor has a finished and measured case"
        console.print(f"No ranking: {why}.", markup=False, highlight=False)
    else:
        console.print()
        console.print(_table(given, plain))
    for line in _copies(given, plain):
        console.print(line, highlight=False)
    for note in _notes(given):
        console.print(in_ascii(note, plain), style="dim", markup=False, highlight=False)


def in_ascii(text: str, plain: bool) -> str:
    """The text in ASCII where the terminal knows nothing else."""
    if not plain:
        return text
    known = str.maketrans(
        {
            "–": "-",
            "−": "-",
            "×": "x",
            "·": "*",
            "√": "sqrt",
            "≥": ">=",
            "≤": "<=",
            "∞": "inf",
            "…": ".",
            "Δ": "gap ",
            "°": "*",
        }
    )
    return text.translate(known).encode("ascii", "replace").decode()


def _table(given: ReportInput, plain: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for name in ("#", "editor", "score", "interval", "half-life", "verdict", f"{given.headline_metric} 0 to end"):
        right = name in ("#", "score", "half-life")
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    colours = styles(given.editors)
    curves, low, high = _curves(given)
    for row in given.ranked:
        editor = row["editor"]
        name = escape(in_ascii(middle(editor, 20), plain)) + _marks(given, editor)
        spark = sparkline(curves.get(editor, []), low=low, high=high, blocks=_ASCII if plain else _BLOCKS)
        cells = (
            str(row["rank"] or "-"),
            f"[{colours[editor].light}]{name}[/]",
            in_ascii(number(row["score"], 1), plain),
            in_ascii(interval(row["low"], row["high"], 1) or no_interval(row["n_sources"]), plain),
            in_ascii(_life(row), plain),
            row["verdict"] or "unknown",
            spark,
        )
        table.add_row(*cells)
    return table


def _copies(given: ReportInput, plain: bool) -> list[str | Table]:
    """For a replicate run: per editor the onset, the notice and the commonest failures; nothing for any other."""
    found = breaks(given)
    if found is None or not found.lines:
        return []
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    heads = ("editor", "onset", *(("noticed", "delay") if found.asked else ()), "most frequent failures")
    for name in heads:
        table.add_column(name, no_wrap=name != heads[-1], overflow="fold")
    for line in found.lines:
        name = escape(in_ascii(middle(line.editor, 20), plain)) + _marks(given, line.editor)
        heard = (line.noticed, line.delay) if found.asked else ()
        table.add_row(name, *(escape(in_ascii(cell, plain)) for cell in (line.onset, *heard, line.failures)))
    return ["", table, escape(in_ascii(found.note, plain))]


def _marks(given: ReportInput, editor: str) -> str:
    """`*`: only pretends. `+`: only copies."""
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
    """Badges in words."""
    notes = []
    ranked = given.ranked
    if ranked:
        cases, out = (max(row[key] or 0 for row in ranked) for key in ("n_cases", "n_left_out"))
        who = "every ranked editor" if len(ranked) > 1 else "it"
        if not cases:
            notes.append(f"No score: {no_score(cases)}.")
        notes.append(f"n = {count(cases, 'case')} that {who} finished with all values, {out} left out.")
    if any(row["simulated"] for row in ranked):
        beside = "" if all(row["simulated"] for row in ranked) else " It stands beside real ones for reference only."
        notes.append(f"* simulated: only pretends, not a model.{beside}")
    if any(row["editor"] in given.uninstructed for row in ranked):
        notes.append("+ ignores words: copies, whatever it is told; a floor, not a rival.")
    if any(str(row["half_life"] or "").startswith(">") for row in ranked):
        notes.append(f"> N: censored, the level was not reached in N {given.unit.many}.")
    missing = missing_text(given.measurements)
    if missing:
        notes.append(f"{missing}.")
    if given.not_run:
        notes.append(f"not run: {', '.join(given.not_run)}.")
    return notes
