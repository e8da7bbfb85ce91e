"""What helps, what hurts: every variant against its baseline, and how often what was asked for happened."""

from __future__ import annotations

from typing import Any

import polars as pl

from convergebench.report.charts.differences import Difference, Line, draw_differences
from convergebench.report.charts.svg import both
from convergebench.report.input import Row, rows
from convergebench.report.sections.page import Page
from convergebench.report.variant import family_of, family_place, family_words, ordered, told
from convergebench.report.wording import better, facts_of, interval, number, percent

MOST_STEPS = 4
"""Steps side by side in one chart: the first ones and the last."""


def variants_section(page: Page) -> list[Row]:
    """One panel per metric: for each family a chart of differences and their numbers."""
    if page.given.replicate is None:
        return []
    frame = page.given.replicate.variants
    if frame.height == 0:
        return []
    named = page.metrics(frame["metric"].unique(maintain_order=True).to_list())
    panels = [_panel(page, frame.filter(pl.col("metric") == metric), metric) for metric in named]
    return [panel for panel in panels if panel["families"]]


def _panel(page: Page, part: pl.DataFrame, metric: str) -> Row:
    known = facts_of(metric, page.given.facts)
    families: dict[str, list[Row]] = {}
    for row in part.iter_rows(named=True):
        families.setdefault(family_of(row["pair"], row["category"]), []).append(row)
    return {
        "name": metric,
        "summary": known.summary if known else "",
        "families": [_family(page, metric, name, families[name]) for name in sorted(families, key=family_place)],
    }


def shown_steps(steps: set[int]) -> list[int]:
    """At most four: the last always, and the first ones before it."""
    listed = sorted(steps)
    return listed if len(listed) <= MOST_STEPS else [*listed[: MOST_STEPS - 1], listed[-1]]


def _family(page: Page, metric: str, family: str, found: list[Row]) -> Row:
    heading, what = family_words(family)
    steps = shown_steps({row["step"] for row in found})
    pairs = ordered(row["pair"] for row in found)
    cells = {(row["pair"], row["step"], row["editor"]): row for row in found}
    lines = [
        Line(
            pair,
            f"against {next(row['baseline'] for row in found if row['pair'] == pair)}",
            tuple(tuple(_dots(page, cells, pair, step)) for step in steps),
        )
        for pair in pairs
    ]
    direction = {"↑": 1, "↓": -1}.get(better(metric, page.given.facts), 0)
    columns = [f"step {step}" for step in steps]
    title = f"{metric}, difference to the baseline"
    label = f"{heading}: {title}. " + "; ".join(_aloud(row) for row in found[:12])
    drawn = any(dot.value is not None for line in lines for dots in line.columns for dot in dots)
    return {
        "name": family,
        "heading": heading,
        "what": what,
        "chart": both(lambda width: draw_differences(lines, columns, width, title=title, label=label, better=direction))
        if drawn
        else None,
        "rows": [_row(row) for row in sorted(found, key=lambda row: (pairs.index(row["pair"]), row["step"]))],
        "told": [(pair, told(_pairs(page), pair)) for pair in pairs if told(_pairs(page), pair)],
    }


def _pairs(page: Page) -> dict[str, Any]:
    found = page.given.manifest.get("pairs")
    return found if isinstance(found, dict) else {}


def _dots(page: Page, cells: dict[tuple[str, int, str], Row], pair: str, step: int) -> list[Difference]:
    found = []
    for editor in page.drawn:
        row = cells.get((pair, step, editor))
        if row is not None:
            says = f"{editor}, {pair} at step {step}: {_aloud(row)}"
            found.append(Difference(editor, page.style[editor], row["difference"], row["low"], row["high"], says))
    return found


def _aloud(row: Row) -> str:
    ends = interval(row["low"], row["high"])
    return (
        f"{row['pair']} {number(row['mean'])} against {number(row['baseline_mean'])}, difference "
        f"{number(row['difference'])}{f' ({ends})' if ends else ''}, {row['n_sources']} sources, "
        f"{row['n_cases']} cases, {row['n_missing']} missing"
    )


def _row(row: Row) -> Row:
    sure = row["low"] is not None and row["high"] is not None and (row["low"] > 0 or row["high"] < 0)
    return {
        **row,
        "mean_text": number(row["mean"]),
        "baseline_text": number(row["baseline_mean"]),
        "difference_text": number(row["difference"]),
        "interval": interval(row["low"], row["high"]) or ("one source" if row["n_sources"] == 1 else "no interval"),
        "sure": sure,
    }


def success_section(page: Page) -> list[Row]:
    """How often what was asked for happened, with its interval."""
    if page.given.replicate is None:
        return []
    found = rows(page.given.replicate.success)
    pairs = ordered(row["pair"] for row in found)
    found = [row for row in found if row["editor"] in page.style]
    order = {editor: place for place, editor in enumerate(page.order)}
    found.sort(key=lambda row: (pairs.index(row["pair"]), row["operation"] or "", order.get(row["editor"], len(order))))
    return [
        {
            **row,
            "mean": row["share"],
            "low": row["low"] if row["low"] is not None else row["share"],
            "high": row["high"] if row["high"] is not None else row["share"],
            "text": percent(row["share"]),
            "interval": interval(100 * row["low"], 100 * row["high"], 0) + " %"
            if row["low"] is not None and row["high"] is not None
            else "",
        }
        for row in found
    ]
