"""Line charts over steps: scores along the chains, one panel per metric, and filter risk, one panel per percentile."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import polars as pl

from convergebench.analysis.audit.audit_data import CELL
from convergebench.analysis.audit.counts import kept_share
from convergebench.analysis.audit.traces import mean_traces
from convergebench.report.audit.numbers import few_clean
from convergebench.report.audit.page import EVERY, AuditPage
from convergebench.report.charts.lines import LineChart
from convergebench.report.charts.series import LineSeries, Point, thin
from convergebench.report.input import Row, rows
from convergebench.report.page import MOST_DRAWN
from convergebench.report.palette import Style, styles
from convergebench.report.wording import MISSING, count, interval, number, percent

MOST_BANDS = 4
"""Most bands that can overlap and stay distinguishable."""
ADDED = ("additions", "additions-apart")


def trace_panels(page: AuditPage) -> list[Row]:
    """One panel per audited metric: its scores along the chains of copies, and along those that add objects."""
    copies, added = split_traces(page)
    return [_trace(page, metric, copies.filter(metric=metric), added.filter(metric=metric)) for metric in page.names]


def split_traces(page: AuditPage) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The traces of chains of copies, and of those that add objects: a mean over both has no meaning."""
    roles = page.given.given.chains.select(*CELL, "role").unique(subset=CELL, keep="first")
    joined = page.given.audit.traces.join(roles, on=CELL, how="left", maintain_order="left")
    adds = pl.col("role").is_in(ADDED).fill_null(False)
    return joined.filter(~adds), joined.filter(adds)


def _trace(page: AuditPage, metric: str, copies: pl.DataFrame, added: pl.DataFrame) -> Row:
    title = f"{page.title(metric)}, scaled to 0–100 (↑ better)"
    found, caption = _copies(page, copies)
    more, named = _added(page, added)
    return {
        "name": page.title(metric),
        "chart": _chart(page, found, title) if found else None,
        "caption": caption,
        "added": _chart(page, more, title) if more else None,
        "added_caption": named,
    }


def _chart(page: AuditPage, series: Sequence[LineSeries], title: str) -> LineChart:
    ends = "; ".join(f"{one.name} ends at {number(one.last.value, 1)}" for one in series if one.last)
    return LineChart(series, title, f"{title}. {ends}", x_title=page.unit.many)


def _copies(page: AuditPage, part: pl.DataFrame) -> tuple[list[LineSeries], str]:
    """One line per image where one editor has few of them, else the mean of each editor's images."""
    lines = part.select(CELL).unique(maintain_order=True).rows()
    editors = [editor for editor in page.editors if editor in set(part["editor"].to_list())]
    if len(editors) == 1 and 0 < len(lines) <= MOST_DRAWN:
        named = _distinct(lines, (2, 3, 0))
        colours = styles(list(named.values()))
        return [_line(part, key, name, colours[name]) for key, name in named.items()], "One line per image."
    found = []
    banded = len(editors) <= MOST_BANDS
    for editor in editors[:MOST_DRAWN]:
        mine = part.filter(pl.col("editor") == editor)
        points = [
            Point(row["at"], row["mean"], row["low"] if banded else None, row["high"] if banded else None, row["n"])
            for row in rows(mean_traces(mine))
        ]
        found.append(LineSeries(editor, page.style[editor], thin(points)))
    left = f" Charts show the first {MOST_DRAWN} of {len(editors)} editors." if len(editors) > MOST_DRAWN else ""
    band = "; the band spans the lowest to the highest image" if banded else ""
    return found, f"Mean over an editor's images{band}.{left}"


def _added(page: AuditPage, part: pl.DataFrame) -> tuple[list[LineSeries], str]:
    """One line per chain that adds objects: a jump at one step is content, not damage."""
    lines = part.select(CELL).unique(maintain_order=True).rows()
    named = _distinct(lines, (3, 1, 2, 0))
    colours = styles(list(named.values()))
    kept = list(named.items())[:MOST_DRAWN]
    left = f" Shown: the first {len(kept)} of {count(len(lines), 'chain')}." if len(lines) > len(kept) else ""
    return [_line(part, key, name, colours[name]) for key, name in kept], left


def _distinct(lines: Sequence[tuple[str, ...]], parts: Sequence[int]) -> dict[tuple[str, ...], str]:
    """A unique name per line from as few of its parts as possible; always with the first part."""
    used = list(parts[:1])
    for part in parts[1:]:
        if len({tuple(line[place] for place in used) for line in lines}) == len(lines):
            break
        if len({line[part] for line in lines}) > 1:
            used.append(part)
    return {line: " ".join(line[place] for place in used) for line in lines}


def _line(part: pl.DataFrame, key: tuple[str, ...], name: str, style: Style) -> LineSeries:
    mine = part.filter(**dict(zip(CELL, key, strict=True))).sort("at")
    points = [
        Point(row["at"], row["mean"], row["smallest"], row["largest"], row["n_runs"])
        if row["n_runs"] > 1
        else Point(row["at"], row["mean"], n=row["n_runs"])
        for row in rows(mine)
    ]
    return LineSeries(name, style, thin(points))


def risk_panels(page: AuditPage) -> list[Row]:
    """One panel per percentile: the share of pictures that pass, per metric and step."""
    frame = page.given.audit.filter_risk
    return [_risk(page, percentile) for percentile in sorted(frame["percentile"].unique().to_list())]


def _risk(page: AuditPage, percentile: float) -> Row:
    found = sorted(
        page.of_all(page.given.audit.filter_risk, percentile=percentile), key=lambda row: (row["metric"], row["at"])
    )
    by_metric = {metric: list(part) for metric, part in groupby(found, key=lambda row: str(row["metric"]))}
    order = sorted(
        (metric for metric in page.names if metric in by_metric),
        key=lambda name: -(by_metric[name][-1]["share"] or 0.0),
    )
    colours = styles(page.names)
    series = [
        LineSeries(page.title(metric), colours[metric], thin(_risk_points(by_metric[metric])))
        for metric in order[:MOST_DRAWN]
    ]
    columns = _columns(page, found)
    set_ = [row for row in found if row["threshold"] is not None]
    series = series if set_ else []
    title = "share of pictures that pass the filter (↓ better)"
    label = f"{title}, set at percentile {percentile:g} of untouched images"
    note = f"filter at percentile {percentile:g} of untouched pictures"
    chart = LineChart(series, title, label, include=(0.0, 1.0), x_title=page.unit.many, note=note)
    return {
        "name": f"{percentile:g} %",
        "percentile": f"{percentile:g}",
        "few": few_clean(found[0]) if found and not set_ else "",
        "clean": percent(kept_share(found)),
        "chart": chart if series else None,
        "drawn": len(series),
        "all": len(order),
        "columns": columns,
        "rows": [_risk_row(page, metric, by_metric[metric], columns) for metric in order],
        "pooled": any(row["editor"] == EVERY for row in found),
    }


def _risk_points(part: Sequence[Row]) -> list[Point]:
    """The points of a line that begins at the untouched pictures."""
    points = [Point(row["at"], row["share"], n=row["n"]) for row in part]
    return points if points[0].x == 0 else [Point(0, part[0]["clean_share"]), *points]


def _columns(page: AuditPage, found: Sequence[Row]) -> list[int]:
    """Baseline, gaps and the last step, as far as chains go."""
    seen = {row["at"] for row in found}
    columns = {page.given.audit.settings.baseline, *page.gaps, max(seen, default=0)}
    return sorted(columns & seen)


def _risk_row(page: AuditPage, metric: str, part: Sequence[Row], columns: Sequence[int]) -> Row:
    known = {row["at"]: row for row in part}
    return {
        "title": page.title(metric),
        "anchor": page.anchor(metric),
        "threshold": number(part[0]["threshold"], 1),
        "cells": [_passes(known.get(at)) for at in columns],
    }


def _passes(row: Row | None) -> Row:
    if row is None or row["share"] is None:
        few = row is not None and row["threshold"] is None
        says = "too few images" if few else "no score at this step"
        return {"text": MISSING, "interval": "", "says": says, "shade": None}
    low, high = row["low"], row["high"]
    ends = "" if low is None or high is None else interval(100 * low, 100 * high, 0)
    says = f"{row['passed']} of {row['n']}"
    return {"text": percent(row["share"]), "interval": ends, "says": says, "shade": round(row["share"], 2)}
