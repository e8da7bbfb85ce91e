"""Which method restores best: every method by every metric, beside doing nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from convergebench.analysis.restoration.result import INPUT, RestorationAnalysis
from convergebench.report.charts.differences import Difference, DifferenceChart, VariantLine
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.restoration.choice import typical_strip
from convergebench.report.sections.restoration.found import (
    by_key,
    direction,
    found_in,
    gain_text,
    has_intervals,
    methods_of,
    metric_head,
    metrics_of,
    numbers_of,
    value_cell,
)
from convergebench.report.wording import interval, number, percent

LEAST_COVERAGE = 0.8
"""Share of pictures that a method must have delivered to be marked as the best."""


def methods_section(page: Page) -> dict[str, Any] | None:
    """The table of methods and metrics, and a panel of gains and contrasts per metric."""
    found = found_in(page)
    if found is None or not found.method_results.height:
        return None
    metrics = metrics_of(found, found.method_results)
    heads = [metric_head(name, page.given) for name in metrics]
    cells = by_key(found.method_results, "editor", "metric")
    lines = [_line(name, heads, cells) for name in _ordered(page, found)]
    panels = [one for one in (_panel(page, found, head) for head in heads) if one]
    return {
        "heads": heads,
        "lines": lines,
        "n": [numbers_of(rows(found.method_results, metric=name), "n_cases") for name in metrics],
        "missing": [numbers_of(rows(found.method_results, metric=name), "n_missing") for name in metrics],
        "unified": found.unified,
        "low": [line["editor"] for line in lines if line["coverage"] is not None and line["coverage"] < LEAST_COVERAGE],
        "panels": Panels("restoration-gain", "restoration_gain_panel.html", panels),
        "strip": typical_strip(page, found),
        "methods": sum(1 for line in lines if not line["is_input"]),
        "few": not has_intervals(rows(found.method_results)),
        "unmarked": not any(cell["best"] for line in lines for cell in line["cells"]),
    }


def _ordered(page: Page, found: RestorationAnalysis) -> list[str]:
    """The input first, then the methods by the first metric, best first."""
    methods = methods_of(page, found.method_results)
    metric = next((name for name in metrics_of(found, found.method_results) if direction(name, page.given)), None)
    means = {row["editor"]: row["mean"] for row in rows(found.method_results) if row["metric"] == metric}
    way = direction(metric, page.given) if metric else 0
    methods.sort(key=lambda editor: (means.get(editor) is None, -way * (means.get(editor) or 0.0)))
    there = set(found.method_results["editor"])
    return [*([INPUT] if INPUT in there else []), *methods]


def _line(editor: str, heads: list[Row], cells: dict[tuple[Any, ...], Row]) -> Row:
    own = [cells.get((editor, head["name"])) for head in heads]
    coverage = next((row["coverage"] for row in own if row and row["coverage"] is not None), None)
    return {
        "editor": editor,
        "is_input": editor == INPUT,
        "coverage": None if editor == INPUT else coverage,
        "cells": [
            {
                **value_cell(row, head["digits"]),
                "gain": gain_text(row["gain"], head["digits"]) if row and editor != INPUT else "",
            }
            for row, head in zip(own, heads, strict=True)
        ],
    }


def _panel(page: Page, found: RestorationAnalysis, head: Row) -> Row | None:
    chart = gain_chart(page, found, head)
    if chart is None:
        return None
    name, places = head["name"], head["digits"]
    contrasts = sorted(rows(found.method_contrasts, metric=name), key=lambda row: (row["p"] is None, row["p"] or 0.0))
    own = [row for row in rows(found.method_results, metric=name) if row["editor"] != INPUT and row["gain"] is not None]
    return {
        "name": name,
        "head": head,
        "chart": chart,
        "rows": [
            {**row, "gain": gain_text(row["gain"], places), "ends": interval(row["gain_low"], row["gain_high"], places)}
            for row in sorted(own, key=lambda row: -row["gain"])
            if row["editor"] in page.style
        ],
        "contrasts": [
            {**row, "text": number(row["difference"], places), "ends": interval(row["low"], row["high"], places)}
            for row in contrasts
        ],
        "significant": sum(1 for row in contrasts if row["significant"]),
    }


def gain_chart(page: Page, found: RestorationAnalysis, head: Row) -> DifferenceChart | None:
    """Gain over the input per method, best first; None where the metric has no better side or no value."""
    own = found.method_results.filter(pl.col("metric") == head["name"], pl.col("editor") != INPUT)
    gains = [row for row in rows(own) if row["gain"] is not None and row["editor"] in page.style]
    if not gains:
        return None
    gains.sort(key=lambda row: -row["gain"])
    lines = [
        VariantLine(
            row["editor"],
            f"{gain_text(row['gain'], head['digits'])}, better on {percent(row['improved'])} of {row['n_cases']}",
            ((_dot(page, row, head["digits"]),),),
        )
        for row in gains
    ]
    unit = f", {head['unit']}" if head["unit"] else ""
    title = f"{head['name']}: gain over the input{unit}"
    label = f"{title}. " + "; ".join(dot.says for line in lines[:12] for dot in line.columns[0])
    return DifferenceChart(lines, [""], title, label, 1)


def _dot(page: Page, row: Row, places: int) -> Difference:
    ends = interval(row["gain_low"], row["gain_high"], places)
    says = f"{row['editor']}: {gain_text(row['gain'], places)}{f' ({ends})' if ends else ''}"
    return Difference(row["editor"], page.style[row["editor"]], row["gain"], row["gain_low"], row["gain_high"], says)


def _figures(page: Page) -> Iterator[tuple[str, Any]]:
    found = found_in(page)
    for name in metrics_of(found, found.method_results) if found else ():
        assert found is not None
        chart = gain_chart(page, found, metric_head(name, page.given))
        if chart is not None:
            yield f"restoration-gain-{name}", chart


METHODS = TemplateSection(
    "restoration-methods", "Methods", "restoration_methods.html", methods_section, _figures, key="methods"
)
