"""Several rounds: does restoring the result again help?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.report.charts.lines import LineChart
from convergebench.report.charts.series import LineSeries, Point, endless_names
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.restoration.found import (
    found_in,
    gain_text,
    methods_of,
    metric_head,
    metrics_of,
    value_cell,
)
from convergebench.report.wording import axis_title, number


def refinement_section(page: Page) -> dict[str, Any] | None:
    """A panel per metric; None for a run of one round."""
    found = found_in(page)
    if found is None or not found.refinement.height or (found.refinement["round"].max() or 0) < 2:  # type: ignore[operator]
        return None
    panels = []
    for metric in metrics_of(found, found.refinement):
        chart = refinement_chart(page, found, metric)
        if chart is not None:
            panels.append({"name": metric, "chart": chart, **_table(page, found, metric)})
    return {"panels": Panels("restoration-round", "restoration_refinement_panel.html", panels)} if panels else None


def refinement_chart(page: Page, found: RestorationAnalysis, metric: str) -> LineChart | None:
    """Mean per round and editor, from the input on."""
    part = found.refinement.filter(pl.col("metric") == metric).sort("round")
    series = [
        LineSeries(
            editor,
            page.style[editor],
            tuple(
                Point(row["round"], row["mean"], row["low"], row["high"], row["n_cases"])
                for row in rows(part, editor=editor)
            ),
        )
        for editor in methods_of(page, part)
        if editor in page.drawn
    ]
    series = [one for one in series if any(point.value is not None for point in one.points)]
    if not series:
        return None
    title = axis_title(metric, page.given.facts)
    ends = "; ".join(f"{one.name} {number(one.last.value)}" for one in series if one.last)
    return LineChart(
        series, title, f"{title} by round of refinement. Last values: {ends}", x_title="rounds (0: the input)",
        endless=endless_names(rows(part)),
    )  # fmt: skip


def _table(page: Page, found: RestorationAnalysis, metric: str) -> dict[str, Any]:
    part = found.refinement.filter(pl.col("metric") == metric)
    places = metric_head(metric, page.given)["digits"]
    rounds = sorted(part["round"].unique().to_list())
    cells = {(row["editor"], row["round"]): row for row in rows(part)}
    lines = [
        {"editor": editor, "cells": [_cell(cells.get((editor, number)), places) for number in rounds]}
        for editor in methods_of(page, part)
    ]
    return {"rounds": rounds, "lines": lines, "n": max((row["n_cases"] or 0 for row in cells.values()), default=0)}


def _cell(row: Row | None, places: int) -> Row:
    return {**value_cell(row, places), "gain": gain_text(row["gain"], places) if row else ""}


def _figures(page: Page) -> Iterator[tuple[str, Any]]:
    found = found_in(page)
    if found is None or refinement_section(page) is None:
        return
    for metric in metrics_of(found, found.refinement):
        chart = refinement_chart(page, found, metric)
        if chart is not None:
            yield f"restoration-refinement-{metric}", chart


REFINEMENT = TemplateSection(
    "restoration-refinement",
    "Refinement",
    "restoration_refinement.html",
    refinement_section,
    _figures,
    key="refinement",
)
