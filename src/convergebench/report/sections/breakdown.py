"""Breakdowns by edit category and image kind, adherence, and diagnostics along the chain."""

from __future__ import annotations

from typing import Any

import polars as pl

from convergebench.metrics.base import MetricFacts
from convergebench.report.charts.multiples import Panel, draw_panel, shared_limits
from convergebench.report.charts.scale import least_span
from convergebench.report.charts.series import Series
from convergebench.report.input import Row, closing_steps, rows
from convergebench.report.sections.curves import series_of
from convergebench.report.sections.page import Page
from convergebench.report.wording import axis_title, better, group_name, interval, number, percent

MOST_PANELS = 12
DEEPEST = 0.5
"""The AUC that is drawn in the deepest blue."""
MOST_CELLS, MOST_COLUMNS, MOST_ROWS = 400, 16, 24
"""Of the heat tables: cells in all, groups across, editors down."""


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
    """All, then categories, then kinds; pairs are too many for a page."""
    order = ("all", "category", "kind")
    known = [group for group in auc["group"].unique().to_list() if group_name(group)[0] in order]
    return sorted(known, key=lambda group: (order.index(group_name(group)[0]), group))


def _heat(page: Page, part: pl.DataFrame, metric: str) -> dict[str, Any]:
    """Editors down, groups across; `shade` is 0 (pale, all kept) to 1 (blue, half or more is lost).

    The scale is the same for every table and run: a small loss must not look like ruin for want of a larger one.
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
        return {"text": "not run" if row is None else "–", "shade": None, "says": "no case measured"}
    shade = min(1.0, max(0.0, (1.0 - row["auc"]) / (1.0 - DEEPEST)))
    says = f"{interval(row['low'], row['high'])}, {row['n_cases']} cases, {row['n_sources']} sources, "
    says += f"{row['n_missing']} missing, {row['n_short']} ended early"
    return {"text": number(row["auc"]), "shade": round(shade, 3), "says": says}


def _panels(page: Page) -> list[Row]:
    frame, metric = page.given.analysis.curves, page.given.headline_metric
    if frame.height == 0:
        return []
    part = frame.filter(pl.col("metric") == metric)
    groups = [g for g in sorted(part["group"].unique().to_list()) if group_name(g)[0] in ("category", "kind")]
    lines: dict[str, list[Series]] = {g: series_of(page, part.filter(pl.col("group") == g)) for g in groups}
    limits = shared_limits(list(lines.values()))
    last = int(part["round"].max() or 1)  # type: ignore[arg-type]
    found = []
    for group in groups[:MOST_PANELS]:
        kind, name = group_name(group)
        panel = Panel(name, f"{metric} by {kind}", lines[group], limits)
        found.append({"kind": kind, "name": name, "chart": draw_panel(panel, last=last, x_title=page.given.unit.many)})
    return found


LEGS = {"forward": "edit happened", "backward": "edit undone"}
"""What a metric of these steps tells; others are named after the comparison they look at."""


def adherence_section(page: Page) -> list[Row]:
    """A table for each way of telling: per editor, did the edit happen, was it undone."""
    found = {
        (row["editor"], row["metric"], row["leg"]): row for row in rows(page.given.analysis.adherence, group="all")
    }
    tables = []
    for way in _ways(page):
        facts = [page.given.facts[name] for name in dict.fromkeys(metric for metric, _ in way)]
        lines = [
            {"editor": editor, "cells": [_kept(found.get((editor, *column))) for column in way]}
            for editor in page.order
            if any((editor, *column) in found for column in way)
        ]
        tables.append(
            {
                "metrics": facts,
                "usual": next((fact.typical for fact in facts if fact.typical), None),
                "by": _answered(page, facts),
                "columns": [f"{LEGS.get(leg, leg)} {better(metric, page.given.facts)}" for metric, leg in way],
                "rows": lines,
            }
        )
    return tables


def adherence_groups(page: Page) -> Row | None:
    """Done and undone for every category and pair: a table of shares, an editor a column."""
    done, undone = page.given.analysis.settings.adherence
    table = page.given.analysis.adherence
    if not table.height:
        return None
    cells = {(row["group"], row["editor"], row["metric"]): row for row in rows(table)}
    groups = [name for name in dict.fromkeys(table["group"]) if name.startswith(("category:", "pair:"))]
    editors = [editor for editor in page.order if ("all", editor, done) in cells]
    lines = [
        {
            "kind": group_name(group)[0],
            "name": group_name(group)[1],
            "cells": [
                tuple(_yes(cells.get((group, editor, metric))) for metric in (done, undone)) for editor in editors
            ],
        }
        for group in groups
    ]
    return {"editors": editors, "lines": lines} if editors and lines else None


def _yes(row: Row | None) -> Row:
    if row is None or row["share"] is None:
        return {"text": "–", "never": False, "of": 0}
    return {"text": percent(row["share"]), "never": row["share"] == 0, "of": row["n_cases"]}


def _answered(page: Page, metrics: list[MetricFacts]) -> str:
    """Who answered, where a metric is asked for; the detail of its rows begins with that."""
    asked, measured = [fact.name for fact in metrics if fact.asks], page.given.measurements
    if not asked or "detail" not in measured.columns:
        return ""
    told = measured.filter(pl.col("metric").is_in(asked))["detail"].str.split("; ").list.first().unique()
    return ", ".join(sorted(name for name in told.to_list() if name))


def _ways(page: Page) -> list[list[tuple[str, str]]]:
    """(metric, leg) of each table: a metric of forward steps stands beside the next one of backward steps."""
    ways: list[list[tuple[str, str]]] = []
    table = page.given.analysis.adherence
    told = list(dict.fromkeys(table.select("metric", "leg").iter_rows())) if table.height else []
    for metric in page.given.facts:
        columns = [one for one in told if one[0] == metric]
        if columns == [(metric, "backward")] and ways and [leg for _, leg in ways[-1]] == ["forward"]:
            ways[-1] += columns
        elif columns:
            ways.append(columns)
    return ways


def _kept(row: Row | None) -> Row:
    if row is None or row["mean"] is None:
        return {
            "text": "not measured",
            "interval": "",
            "share": "",
            "n": 0,
            "missing": row["n_missing"] if row else 0,
            "mean": None,
            "low": None,
            "high": None,
        }
    return {
        "text": number(row["mean"], 2),
        "interval": interval(row["low"], row["high"], 2),
        "share": percent(row["share"]),
        "n": row["n_cases"],
        "missing": row["n_missing"],
        "mean": row["mean"],
        "low": row["low"] if row["low"] is not None else row["mean"],
        "high": row["high"] if row["high"] is not None else row["mean"],
    }


def diagnostics_section(page: Page) -> list[Row]:
    """One small chart per diagnostic, at the end of each round.

    Steps in between do other things (a picture lies on its side, an object is there): a line through both kinds zigzags
    and says nothing about wear.
    """
    frame = page.given.analysis.diagnostics
    if frame.height == 0 or page.given.steps.height == 0:
        return []
    ends = closing_steps(page.given).select(pl.col("index").alias("step").cast(frame.schema["step"]), "round").unique()
    frame = frame.join(ends, on="step")
    found = []
    for metric in page.metrics(frame["metric"].unique(maintain_order=True).to_list()):
        part = frame.filter(pl.col("metric") == metric)
        series = series_of(page, part)
        known = page.given.facts.get(metric)
        panel = Panel(metric, known.summary if known else "", series, least=least_span(known))
        found.append(
            {
                "name": axis_title(metric, page.given.facts),
                "summary": known.summary if known else "",
                "missing": page.missing(metric, ends["step"].to_list()),
                "chart": draw_panel(panel, x_title=page.given.unit.many),
            }
        )
    return found
