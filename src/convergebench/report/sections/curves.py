"""Degradation curves with a switch between metrics, and survival with a switch between levels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import polars as pl

from convergebench.report.charts.lines import LineChart
from convergebench.report.charts.series import LineSeries, Point, drawable, endless_names, thin
from convergebench.report.charts.survival import SurvivalChart, SurvivalCurve, SurvivalPoint
from convergebench.report.environment import Panels
from convergebench.report.input import Row, metric_order, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.wording import axis_title, interval, number, rounds_interval

MOST_SURVIVAL = 64
MOST_ROWS = 24


def series_of(page: Page, frame: pl.DataFrame, *, x: str = "round") -> list[LineSeries]:
    """One line per drawn editor from rows with a mean; bands where the frame has them."""
    found = []
    for editor in page.drawn:
        part = frame.filter(pl.col("editor") == editor).sort(x).iter_rows(named=True)
        points = [Point(row[x], row["mean"], row.get("low"), row.get("high"), row.get("n_cases")) for row in part]
        if points:
            found.append(LineSeries(editor, page.style[editor], thin(points)))
    return found


def curves_section(page: Page) -> list[Row]:
    """One panel per metric: the chart and its numbers at the rounds of `settings.points`."""
    frame = page.given.analysis.curves
    if frame.height == 0:
        return []
    every = frame.filter(pl.col("group") == "all")
    panels: list[Row] = []
    for metric in page.metrics(every["metric"].unique(maintain_order=True).to_list()):
        part = every.filter(pl.col("metric") == metric)
        caption = _caption(page, metric, part)
        if part["mean"].drop_nulls().is_empty():
            panels.append({**caption, "chart": None, "table": None})
            continue
        table = _table(page, part, alone=bool(caption["alone"]))
        panels.append({**caption, "chart": curve_chart(page, metric, part), "table": table})
    return panels


def curve_chart(page: Page, metric: str, part: pl.DataFrame) -> LineChart:
    """The mean of a metric per editor and round, with its band."""
    return LineChart(
        series_of(page, part),
        axis_title(metric, page.given.facts),
        _label(page, metric, part),
        *_levels(page, metric),
        x_title=page.given.unit.many,
        endless=endless_names(part.to_dicts()),
    )


def _curve_figures(page: Page) -> Iterator[tuple[str, LineChart]]:
    every = page.given.analysis.curves.filter(pl.col("group") == "all")
    for metric in page.metrics(every["metric"].unique(maintain_order=True).to_list(), most=None):
        part = every.filter(pl.col("metric") == metric)
        if any(drawable(value) for value in part["mean"]):
            yield f"curve-{metric}", curve_chart(page, metric, part)


def _caption(page: Page, metric: str, part: pl.DataFrame) -> Row:
    """The metric's summary, whether it has no reference, whether images were aligned for it, what is missing."""
    known = page.given.facts.get(metric)
    return {
        "name": metric,
        "summary": known.summary if known else "",
        "alone": known is not None and known.kind == "no-reference",
        "begins": part.filter(pl.col("round") == 0, pl.col("mean").is_not_null()).height > 0,
        "aligned": known is None or known.aligned,
        "missing": page.missing(metric),
    }


def _label(page: Page, metric: str, part: pl.DataFrame) -> str:
    last = part.drop_nulls("mean").sort("round").group_by("editor", maintain_order=True).last().to_dicts()
    ends = "; ".join(f"{row['editor']} {number(row['mean'])} after {row['round']}" for row in last[:12])
    return f"Mean {metric} after each {page.given.unit.one}, with 95 % bands. {ends}"


def _levels(page: Page, metric: str) -> tuple[list[tuple[str, float]], list[float]]:
    """The named levels of a metric, and the value that its axis must include (its self-value)."""
    known = page.given.facts.get(metric)
    overrides = page.given.analysis.settings.levels.get(metric, {})
    levels = {
        "noticeable": overrides.get("noticeable", known.noticeable if known else None),
        "half": overrides.get("half", known.half if known else None),
    }
    start = [known.self_value] if known and known.self_value is not None else []
    return [(name, value) for name, value in levels.items() if value is not None], start


def _table(page: Page, part: pl.DataFrame, *, alone: bool) -> dict[str, Any]:
    """The numbers at the rounds of `settings.points`; for a no-reference metric (`alone`) at round 0 too."""
    known = set(part.drop_nulls("mean")["round"].to_list())
    points = [n for n in page.given.analysis.settings.points if n in known]
    points = sorted({*points, max(known, default=0)} - {0})  # the last round that was run, whatever was chosen
    if alone:
        points = [0, *points]
    sizes = [abs(value) for value in part["mean"].to_list() if value is not None and math.isfinite(value)]
    digits = 1 if max(sizes, default=0.0) >= 10 else 3
    lines = []
    for editor in page.order[:MOST_ROWS]:
        at = {row["round"]: row for row in rows(part, editor=editor)}
        cells = [_number_cell(at.get(n), digits) for n in points]
        lines.append({"editor": editor, "cells": cells})
    return {"points": points, "rows": lines}


def _number_cell(row: Row | None, digits: int) -> Row:
    if row is None or row["mean"] is None:
        why = "no chain this long" if row is None else f"{row['n_missing']} missing"
        return {"text": "–", "says": why}
    says = [interval(row["low"], row["high"], digits), f"n {row['n_cases']}"]
    says += [f"{row['n_missing']} missing"] if row["n_missing"] else []
    return {"text": number(row["mean"], digits), "says": ", ".join(part for part in says if part)}


def survival_section(page: Page) -> list[Row]:
    """One panel per survival curve."""
    named = _survival_names(page)[:MOST_SURVIVAL]
    return [{"name": name, "chart": survival_chart(page, name), "lives": _lives(page, name)} for name in named]


def _survival_names(page: Page) -> list[str]:
    """The headline level first, then `usable`, then the others."""
    every = page.given.analysis.survival.filter(pl.col("group") == "all")
    settings = page.given.analysis.settings
    first = [f"{settings.headline} {settings.level}", "usable"]
    named = every["curve"].unique(maintain_order=True).to_list()
    metrics = metric_order(page.given, [name.rpartition(" ")[0] for name in named])
    return sorted(
        named,
        key=lambda name: first.index(name) if name in first else len(first) + metrics.index(name.rpartition(" ")[0]),
    )


def survival_chart(page: Page, curve: str) -> SurvivalChart:
    """The share of chains per editor that have not yet passed a level."""
    every = page.given.analysis.survival.filter(pl.col("group") == "all")
    cases = []
    for editor in page.drawn:
        part = every.filter(pl.col("editor") == editor, pl.col("curve") == curve).sort("round")
        stairs = tuple(
            SurvivalPoint(
                row["round"], row["survival"], row["low"], row["high"], row["at_risk"] or 0, row["censored"] or 0
            )
            for row in part.iter_rows(named=True)
        )
        if stairs:
            cases.append(SurvivalCurve(editor, page.style[editor], stairs))
    what = "still usable" if curve == "usable" else f"not yet past {curve}"
    title = f"share of chains {what}"
    last = int(page.given.chains["rounds"].max() or 1)  # type: ignore[arg-type]
    last_values = "; ".join(f"{c.name} {number(c.stairs[-1].survival, 2)} at {c.stairs[-1].round}" for c in cases)
    return SurvivalChart(cases, title, f"{title}. {last_values}", last, page.given.unit.many)


def _lives(page: Page, curve: str) -> list[Row]:
    """The half-life rows that belong to a curve."""
    metric, _, level = curve.rpartition(" ")
    found = {row["editor"]: row for row in rows(page.given.analysis.half_life, metric=metric, level=level, group="all")}
    if curve == "usable":
        found = {row["editor"]: row for row in rows(page.given.analysis.half_life, metric="usable", group="all")}
    return [
        {
            **found[editor],
            "interval": rounds_interval(found[editor]["low"], found[editor]["high"])
            or ("not reached" if found[editor]["text"].startswith(">") else "no interval"),
            "mean": number(found[editor]["restricted_mean"], 1),
        }
        for editor in page.order[:MOST_ROWS]
        if editor in found
    ]


CURVES: TemplateSection[Page] = TemplateSection(
    "curves",
    "Curves",
    "curves.html",
    lambda page: {"curves": Panels("metric", "curve_panel.html", curves_section(page))},
    _curve_figures,
)
SURVIVAL: TemplateSection[Page] = TemplateSection(
    "survival",
    "Survival",
    "survival.html",
    lambda page: {"survival": Panels("curve", "survival_panel.html", survival_section(page))},
    lambda page: ((f"survival-{name}", survival_chart(page, name)) for name in _survival_names(page)),
)
