"""Breakdowns by edit category and image kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from convergebench.report.charts.heatmap import PALE, HeatCell, HeatChart
from convergebench.report.charts.multiples import SmallChart, shared_limits
from convergebench.report.charts.series import LineSeries
from convergebench.report.input import Row
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.curves import series_of
from convergebench.report.wording import count, group_name, interval, middle, number

MOST_PANELS = 12
DEEPEST = 0.5
"""The AUC with the deepest blue."""
MOST_CELLS, MOST_COLUMNS, MOST_ROWS = 400, 16, 24
"""Limits of the heat tables: cells in total, groups across, editors down."""


def breakdown_section(page: Page) -> dict[str, Any]:
    """Heat tables of AUC per metric, and small curves of the headline metric per group."""
    auc = page.given.analysis.auc
    metrics = page.metrics(auc["metric"].unique(maintain_order=True).to_list()) if auc.height else []
    tables: list[dict[str, Any]] = []
    left = MOST_CELLS
    for metric in metrics:
        table = _heat(page, auc.filter(pl.col("metric") == metric), metric)
        left -= len(table["columns"]) * len(table["rows"])
        if table["columns"] and (left >= 0 or not tables):
            tables.append(table)
    groups = _groups(auc) if auc.height else []
    fits = len(tables) == len(metrics) and len(groups) <= MOST_COLUMNS and len(page.order) <= MOST_ROWS
    cut = (
        ""
        if fits or not tables
        else "There is more than a page holds; the table auc has every metric, group and editor."
    )
    return {"tables": tables, "panels": _panels(page), "cut": cut}


def _groups(auc: pl.DataFrame) -> list[str]:
    """All, then categories, then kinds; there are too many pairs for a page."""
    order = ("all", "category", "kind")
    known = [group for group in auc["group"].unique().to_list() if group_name(group)[0] in order]
    return sorted(known, key=lambda group: (order.index(group_name(group)[0]), group))


def _heat(page: Page, part: pl.DataFrame, metric: str) -> dict[str, Any]:
    """Editors down, groups across; `shade` is 0 (pale, all kept) to 1 (blue, half or more is lost).

    The scale is the same for every table and run, so that a small loss never looks large.
    """
    groups = _groups(part)[:MOST_COLUMNS]
    cells = {(row["editor"], row["group"]): row for row in part.iter_rows(named=True)}
    lines = [
        {"editor": editor, "cells": [_cell(cells.get((editor, group))) for group in groups]}
        for editor in page.order[:MOST_ROWS]
    ]
    columns = [dict(zip(("kind", "name"), group_name(group), strict=True)) for group in groups]
    return {
        "metric": metric,
        "columns": columns,
        "rows": lines,
        "low": f"≤ {number(DEEPEST, 1)}",
        "high": number(1.0, 1),
    }


def _cell(row: Row | None) -> Row:
    if row is None or row["auc"] is None:
        return {"text": "not run" if row is None else "–", "shade": None, "says": []}
    shade = min(1.0, max(0.0, (1.0 - row["auc"]) / (1.0 - DEEPEST)))
    beside = [
        f"{row[name]} {words}" for name, words in (("n_missing", "missing"), ("n_short", "ended early")) if row[name]
    ]
    says = [
        interval(row["low"], row["high"]),
        ", ".join([f"{row['n_cases']} of {count(row['n_sources'], 'image')}", *beside]),
    ]
    return {"text": number(row["auc"]), "shade": round(shade, 3), "says": [line for line in says if line]}


def _panels(page: Page) -> list[Row]:
    frame, metric = page.given.analysis.curves, page.given.headline_metric
    if frame.height == 0:
        return []
    part = frame.filter(pl.col("metric") == metric)
    groups = [g for g in sorted(part["group"].unique().to_list()) if group_name(g)[0] in ("category", "kind")]
    lines: dict[str, list[LineSeries]] = {g: series_of(page, part.filter(pl.col("group") == g)) for g in groups}
    limits = shared_limits(list(lines.values()))
    last = int(part["round"].max() or 1)  # type: ignore[arg-type]
    found = []
    for group in groups[:MOST_PANELS]:
        kind, name = group_name(group)
        note = f"{metric} by {kind}"
        chart = SmallChart(name, note, lines[group], limits, x_title=page.given.unit.many, last=last)
        found.append({"kind": kind, "name": name, "chart": chart})
    return found


def _figures(page: Page) -> Iterator[tuple[str, HeatChart]]:
    """The table of the headline metric, for print."""
    auc, metric = page.given.analysis.auc, page.given.headline_metric
    part = auc.filter(pl.col("metric") == metric)
    if part.height == 0:
        return
    table = _heat(page, part, metric)
    lines = [line for line in table["rows"] if part.filter(editor=line["editor"]).height]
    yield (
        "breakdown",
        HeatChart(
            f"AUC of {metric} (↑ better)",
            [column["name"] for column in table["columns"]],
            [middle(line["editor"], 30) for line in lines],
            [[HeatCell(cell["text"], cell["shade"]) for cell in line["cells"]] for line in lines],
            PALE,
            (table["low"], table["high"]),
        ),
    )


BREAKDOWN = TemplateSection("breakdown", "Breakdowns", "breakdown.html", breakdown_section, _figures, key="breakdown")
