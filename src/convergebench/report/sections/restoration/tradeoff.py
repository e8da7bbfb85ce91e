"""Perception against distortion: who comes closest to the clean picture, who looks best, who does both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from convergebench.analysis.restoration.result import INPUT, RestorationAnalysis
from convergebench.report.charts.tradeoff import TradeoffChart, TradeoffPoint
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.restoration.found import (
    NO_RESTORATION,
    direction,
    found_in,
    methods_of,
    metric_head,
    prompt_facts,
)
from convergebench.report.wording import number

FEWEST_PROMPTS = 2
"""Prompts that an editor needs for a chart of its own."""


def tradeoff_section(page: Page) -> dict[str, Any] | None:
    """A panel per pair of metrics: methods, then the prompts of each editor that reads words."""
    found = found_in(page)
    if found is None or not found.tradeoff.height:
        return None
    panels = [_panel(page, found, *pair) for pair in metric_pairs(found)]
    panels = [panel for panel in panels if panel["charts"]]
    return {"panels": Panels("restoration-tradeoff", "restoration_tradeoff_panel.html", panels)} if panels else None


def metric_pairs(found: RestorationAnalysis) -> list[tuple[str, str]]:
    """(distortion, perception) metrics, in the order of the frame."""
    if not found.tradeoff.height:
        return []
    columns = ("distortion_metric", "perception_metric")
    return found.tradeoff.select(columns).unique(maintain_order=True).rows()


def _panel(page: Page, found: RestorationAnalysis, distortion: str, perception: str) -> Row:
    charts = [
        {"title": title, "chart": chart, "rows": _table(page, part)}
        for _, title, part, chart in _charts(page, found, distortion, perception)
    ]
    return {"name": f"{perception} against {distortion}", "charts": charts}


def _charts(
    page: Page, found: RestorationAnalysis, distortion: str, perception: str
) -> Iterator[tuple[str, str, pl.DataFrame, TradeoffChart]]:
    """File name, heading, rows and chart of the methods and of each editor's prompts."""
    pair = (pl.col("distortion_metric") == distortion) & (pl.col("perception_metric") == perception)
    part = found.tradeoff.filter(pair, pl.col("level") == "method")
    chart = tradeoff_chart(page, part, "methods")
    if chart is not None:
        yield "methods", "Methods", part, chart
    for editor in methods_of(page, found.tradeoff.filter(pair, pl.col("level") == "prompt")):
        own = found.tradeoff.filter(pair, pl.col("level") == "prompt", pl.col("editor") == editor)
        chart = tradeoff_chart(page, own, f"prompts of {editor}") if own.height >= FEWEST_PROMPTS else None
        if chart is not None:
            yield f"prompts-{editor}", f"Prompts of {editor}", own, chart


def tradeoff_chart(page: Page, part: pl.DataFrame, what: str) -> TradeoffChart | None:
    """The chart of some rows of one pair of metrics; None without a point or where a metric has no better side."""
    known = [row for row in rows(part) if row["distortion"] is not None and row["perception"] is not None]
    known = [row for row in known if row["editor"] == INPUT or row["editor"] in page.style]
    if not known:
        return None
    names = known[0]["distortion_metric"], known[0]["perception_metric"]
    ways = tuple(direction(name, page.given) for name in names)
    if not all(ways):
        return None
    facts = prompt_facts(page)
    heads = [metric_head(name, page.given) for name in names]
    points = [_point(page, row, heads, facts) for row in known]
    titles = [", ".join(part for part in (head["name"], head["unit"]) if part) for head in heads]
    label = f"{what}: {titles[1]} against {titles[0]}. " + "; ".join(point.says for point in points[:14])
    return TradeoffChart(points, titles[0], titles[1], ways[0], ways[1], label)


def _point(page: Page, row: Row, heads: list[Row], facts: dict[str, dict[str, Any]]) -> TradeoffPoint:
    by_prompt = row["level"] == "prompt" and row["editor"] != INPUT
    name = NO_RESTORATION if row["editor"] == INPUT else row["prompt"] if by_prompt else row["editor"]
    said = [
        f"{head['name']} {number(row[key], head['digits'])}"
        for head, key in zip(heads, ("distortion", "perception"), strict=True)
    ]
    return TradeoffPoint(
        name,
        None if row["editor"] == INPUT else page.style[row["editor"]],
        *(row["distortion"], row["perception"], bool(row["pareto"])),
        f"{name}: {', '.join(said)}{', on the front' if row['pareto'] else ''}",
        hollow=by_prompt and facts.get(row["prompt"], {}).get("fidelity") is False,
    )


def _table(page: Page, part: pl.DataFrame) -> list[Row]:
    found = []
    for row in rows(part):
        if row["editor"] != INPUT and row["editor"] not in page.style:
            continue
        keys = (("distortion", row["distortion_metric"]), ("perception", row["perception_metric"]))
        texts = {key: number(row[key], metric_head(metric, page.given)["digits"]) for key, metric in keys}
        found.append({**row, **texts, "is_input": row["editor"] == INPUT})
    return found


def _figures(page: Page) -> Iterator[tuple[str, Any]]:
    found = found_in(page)
    for distortion, perception in metric_pairs(found) if found else ():
        assert found is not None
        for name, _, _, chart in _charts(page, found, distortion, perception):
            yield f"restoration-tradeoff-{name}-{distortion}-{perception}", chart


TRADEOFF = TemplateSection(
    "restoration-tradeoff",
    "Fidelity and appearance",
    "restoration_tradeoff.html",
    tradeoff_section,
    _figures,
    key="tradeoff",
)
