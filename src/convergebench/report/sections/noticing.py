"""Onset of damage, and when the editor notices it: onsets, first notices, and the delay between the two."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import polars as pl

from convergebench.analysis.decay_result import DecayAnalysis
from convergebench.report.charts.onsets import ImageOnsets, OnsetChart
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.variant import POOLED, ordered
from convergebench.report.wording import interval, number, rounds_interval

MOST_IMAGES = 24
MOST_EDITORS = 6
"""Most charts of one panel; the table below has every editor."""


def noticing_section(page: Page) -> dict[str, Any] | None:
    """Panels by variant with a chart per editor, and the table of medians; None without data."""
    found = page.given.decay
    if found is None or (found.onsets.height == 0 and found.onset_summary.height == 0 and found.noticing.height == 0):
        return None
    metric = page.given.onset_metric
    onsets = found.onsets.filter(pl.col("metric") == metric)
    labels = ordered([*onsets["pair"].to_list(), *found.noticing["pair"].to_list()])
    return {
        "panels": Panels("onset", "noticing_panel.html", [_panel(page, found, onsets, pair) for pair in labels]),
        "asked": found.noticing.height > 0,
        "metric": metric,
        "table": _table(page, found),
        "missing": _answer_counts(found.noticing),
    }


def _panel(page: Page, found: DecayAnalysis, onsets: pl.DataFrame, pair: str) -> Row:
    broken: dict[tuple[str, str], list[Row]] = defaultdict(list)
    notices: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows(onsets, pair=pair):
        broken[row["editor"], row["source"]].append(row)
    for row in rows(found.noticing, pair=pair):
        notices[row["editor"], row["source"]].append(row)
    means = {(row["editor"], row["source"]): row for row in rows(found.noticing_summary, pair=pair)}
    every = [*(row for part in (*broken.values(), *notices.values()) for row in part)]
    last = max((row["last"] or 0 for row in every), default=1)
    editors = [editor for editor in page.drawn if any(editor == key[0] for key in (*broken, *notices))]
    charts = []
    for editor in editors[:MOST_EDITORS]:
        sources = list(dict.fromkeys(source for who, source in (*broken, *notices) if who == editor))
        lines = [
            _line(source, broken.get((editor, source), []), notices.get((editor, source), []), means)
            for source in sources
        ]
        chart = _chart(page, editor, pair, lines[:MOST_IMAGES], last, noticed=bool(notices))
        charts.append(chart | {"hidden": max(0, len(lines) - MOST_IMAGES)})
    return {"name": pair, "charts": charts, "more": max(0, len(editors) - MOST_EDITORS)}


def _line(source: str, broken: list[Row], notices: list[Row], means: dict[tuple[str, str], Row]) -> ImageOnsets:
    editor = (broken or notices)[0]["editor"]
    mean = means.get((editor, source), {})
    return ImageOnsets(
        source,
        tuple(row["onset"] for row in broken if row["onset"] is not None),
        sum(row["onset"] is None for row in broken),
        tuple(row["first_yes"] for row in notices if row["first_yes"] is not None),
        sum(row["first_yes"] is None for row in notices),
        mean.get("mean"),
        mean.get("std"),
    )


def _chart(page: Page, editor: str, pair: str, lines: list[ImageOnsets], last: int, *, noticed: bool) -> Row:
    """`noticed`: some editor of this variant has notices, so all charts leave room for them and share one axis."""
    label = f"{editor}, {pair}: step of onset of each image and run" + (", and first notice" if noticed else "")
    return {"editor": editor, "chart": OnsetChart(lines, last, page.style[editor], label, noticed)}


def _table(page: Page, found: DecayAnalysis) -> list[Row]:
    """Per variant and editor: the median onset, the median first notice and the delay."""
    metric = page.given.onset_metric
    broken = {(row["pair"], row["editor"]): row for row in rows(found.onset_summary, metric=metric)}
    notices = {(row["pair"], row["editor"]): row for row in rows(found.noticing_summary, source=POOLED)}
    pairs = ordered(pair for pair, _ in (*broken, *notices))
    order = {editor: place for place, editor in enumerate(page.order)}
    keys = sorted({*broken, *notices}, key=lambda key: (pairs.index(key[0]), order.get(key[1], len(order))))
    return [
        {
            "pair": pair,
            "editor": editor,
            "onset": median_text(broken.get((pair, editor)), ""),
            "noticed": median_text(notices.get((pair, editor)), ""),
            "delay": median_text(notices.get((pair, editor)), "delay_"),
            "mean": _mean(notices.get((pair, editor))),
            "broken": broken.get((pair, editor)),
            "notices": notices.get((pair, editor)),
        }
        for pair, editor in keys
        if editor in page.style
    ]


def median_text(row: Row | None, prefix: str) -> tuple[str, str]:
    """(`7`, `5–9`): the text of the median, and the interval."""
    if row is None:
        return "–", ""
    low, high = row[f"{prefix}low"], row[f"{prefix}high"]
    ends = interval(low, high, 0) if low is not None and high is not None and low < min(0, high) else ""
    ends = ends or rounds_interval(low, high)
    return row[f"{prefix}text"] or "–", ends


def _mean(row: Row | None) -> str:
    if row is None or row["mean"] is None:
        return "–"
    return number(row["mean"], 1) + ("" if row["std"] is None else f" ± {number(row['std'], 1)}")


def _answer_counts(noticing: pl.DataFrame) -> tuple[int, int, int]:
    """(questions asked, replies that were neither yes nor no, steps without an answer)."""
    if noticing.height == 0:
        return 0, 0, 0
    return tuple(int(noticing[name].sum() or 0) for name in ("asked", "unparsable", "missing"))  # type: ignore[return-value]


ONSET = TemplateSection("onset", "Onset of damage", "noticing_section.html", noticing_section, key="noticing")
