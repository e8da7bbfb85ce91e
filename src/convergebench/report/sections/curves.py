"""Degradation curves with a switch between metrics, and survival with a switch between levels."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from convergebench.report.chains import metric_order
from convergebench.report.charts.curves import CurveChart, draw_curves
from convergebench.report.charts.series import Point, Series, endless_names, thin
from convergebench.report.charts.survival import Stair, Staircase, draw_survival
from convergebench.report.charts.svg import both
from convergebench.report.input import Row, rows
from convergebench.report.sections.page import Page
from convergebench.report.wording import axis_title, interval, number, rounds_interval

MOST_SURVIVAL = 64
MOST_ROWS = 24


def series_of(page: Page, frame: pl.DataFrame, *, x: str = "round") -> list[Series]:
    """One line per drawn editor from rows with a mean; bands where the frame has them."""
    found = []
    for editor in page.drawn:
        part = frame.filter(pl.col("editor") == editor).sort(x).iter_rows(named=True)
        points = [Point(row[x], row["mean"], row.get("low"), row.get("high"), row.get("n_cases")) for row in part]
        if points:
            found.append(Series(editor, page.style[editor], thin(points)))
    return found


def curves_section(page: Page) -> list[Row]:
    """One panel per metric: the chart and its numbers at the plan's rounds."""
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
        chart = CurveChart(
            series_of(page, part),
            axis_title(metric, page.given.facts),
            _label(page, metric, part),
            *_levels(page, metric),
            x_title=page.given.unit.many,
            endless=endless_names(part.to_dicts()),
        )
        drawn = both(lambda width, chart=chart: draw_curves(chart, width))  # type: ignore[misc]
        panels.append({**caption, "chart": drawn, "table": _table(page, part, alone=bool(caption["alone"]))})
    return panels


def _caption(page: Page, metric: str, part: pl.DataFrame) -> Row:
    """What a metric is, whether it stands alone, whether sizes were made equal for it, what is missing."""
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
    last = part.drop_nulls("mean").sort("round").group_by("editor", maintain_order=True).last()
    said = "; ".join(f"{row['editor']} {number(row['mean'])} after {row['round']}" for row in last.to_dicts()[:12])
    return f"Mean {metric} after each {page.given.unit.one}, with 95 % bands. {said}"


def _levels(page: Page, metric: str) -> tuple[list[tuple[str, float]], list[float]]:
    """The named levels of a metric, and the value its axis must show (its self-value)."""
    known = page.given.facts.get(metric)
    overrides = page.given.analysis.settings.levels.get(metric, {})
    levels = {
        "noticeable": overrides.get("noticeable", known.noticeable if known else None),
        "half": overrides.get("half", known.half if known else None),
    }
    start = [known.self_value] if known and known.self_value is not None else []
    return [(name, value) for name, value in levels.items() if value is not None], start


def _table(page: Page, part: pl.DataFrame, *, alone: bool) -> dict[str, Any]:
    """The numbers at the plan's rounds; where an untouched image has a score of its own, that too."""
    points = [n for n in page.given.analysis.settings.points if n in set(part["round"].to_list())]
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
        why = "no chain came this far" if row is None else f"{row['n_missing']} values missing"
        return {"text": "–", "says": why}
    says = f"{interval(row['low'], row['high'], digits)}, {row['n_cases']} cases, {row['n_missing']} missing"
    return {"text": number(row["mean"], digits), "says": says}


def survival_section(page: Page) -> list[Row]:
    """One panel per survival curve: headline level first, then `usable`, then the others."""
    frame = page.given.analysis.survival
    if frame.height == 0:
        return []
    every = frame.filter(pl.col("group") == "all")
    settings = page.given.analysis.settings
    first = [f"{settings.headline} {settings.level}", "usable"]
    named = every["curve"].unique(maintain_order=True).to_list()
    metrics = metric_order(page.given, [name.rpartition(" ")[0] for name in named])
    named.sort(
        key=lambda name: first.index(name) if name in first else len(first) + metrics.index(name.rpartition(" ")[0])
    )
    return [_survival(page, every, curve) for curve in named[:MOST_SURVIVAL]]


def _survival(page: Page, every: pl.DataFrame, curve: str) -> Row:
    cases = []
    for editor in page.drawn:
        part = every.filter(pl.col("editor") == editor, pl.col("curve") == curve).sort("round")
        stairs = tuple(
            Stair(row["round"], row["survival"], row["low"], row["high"], row["at_risk"] or 0, row["censored"] or 0)
            for row in part.iter_rows(named=True)
        )
        if stairs:
            cases.append(Staircase(editor, page.style[editor], stairs))
    what = "still usable" if curve == "usable" else f"not yet past {curve}"
    title = f"share of chains {what}"
    last = int(page.given.chains["rounds"].max() or 1)  # type: ignore[arg-type]
    said = "; ".join(f"{c.name} {number(c.stairs[-1].survival, 2)} at {c.stairs[-1].round}" for c in cases)
    label, many = f"{title}. {said}", page.given.unit.many
    chart = both(lambda width: draw_survival(cases, width, title=title, label=label, rounds=last, x_title=many))
    return {"name": curve, "chart": chart, "lives": _lives(page, curve)}


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
