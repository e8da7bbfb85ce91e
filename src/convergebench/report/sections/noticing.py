"""When it breaks, and when the editor notices: onsets, first notices, and the delay between the two."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import polars as pl

from convergebench.analysis.replicate import ReplicateAnalysis
from convergebench.report.charts.onsets import Onsets, draw_onsets
from convergebench.report.charts.svg import both
from convergebench.report.input import Row, rows
from convergebench.report.sections.page import Page
from convergebench.report.variant import POOLED, ordered
from convergebench.report.wording import interval, number, rounds_interval

MOST_IMAGES = 24
MOST_EDITORS = 6
"""Charts of one panel; the table below has every editor."""


def noticing_section(page: Page) -> dict[str, Any] | None:
    """Panels by variant with a chart per editor, and the table of medians; None where nothing was found out."""
    found = page.given.replicate
    if found is None or (found.onsets.height == 0 and found.onset_summary.height == 0 and found.noticing.height == 0):
        return None
    metric = page.given.onset_metric
    onsets = found.onsets.filter(pl.col("metric") == metric)
    labels = ordered([*onsets["pair"].to_list(), *found.noticing["pair"].to_list()])
    return {
        "panels": [_panel(page, found, onsets, pair) for pair in labels],
        "asked": found.noticing.height > 0,
        "metric": metric,
        "table": _table(page, found),
        "missing": _unheard(found.noticing),
    }


def _panel(page: Page, found: ReplicateAnalysis, onsets: pl.DataFrame, pair: str) -> Row:
    broken: dict[tuple[str, str], list[Row]] = defaultdict(list)
    heard: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows(onsets, pair=pair):
        broken[row["editor"], row["source"]].append(row)
    for row in rows(found.noticing, pair=pair):
        heard[row["editor"], row["source"]].append(row)
    means = {(row["editor"], row["source"]): row for row in rows(found.noticing_summary, pair=pair)}
    every = [*(row for part in (*broken.values(), *heard.values()) for row in part)]
    last = max((row["last"] or 0 for row in every), default=1)
    editors = [editor for editor in page.drawn if any(editor == key[0] for key in (*broken, *heard))]
    charts = []
    for editor in editors[:MOST_EDITORS]:
        sources = list(dict.fromkeys(source for who, source in (*broken, *heard) if who == editor))
        lines = [
            _line(source, broken.get((editor, source), []), heard.get((editor, source), []), means)
            for source in sources
        ]
        chart = _chart(page, editor, pair, lines[:MOST_IMAGES], last, noticed=bool(heard))
        charts.append(chart | {"hidden": max(0, len(lines) - MOST_IMAGES)})
    return {"name": pair, "charts": charts, "more": max(0, len(editors) - MOST_EDITORS)}


def _line(source: str, broken: list[Row], heard: list[Row], means: dict[tuple[str, str], Row]) -> Onsets:
    editor = (broken or heard)[0]["editor"]
    mean = means.get((editor, source), {})
    return Onsets(
        source,
        tuple(row["onset"] for row in broken if row["onset"] is not None),
        sum(row["onset"] is None for row in broken),
        tuple(row["first_yes"] for row in heard if row["first_yes"] is not None),
        sum(row["first_yes"] is None for row in heard),
        mean.get("mean"),
        mean.get("std"),
    )


def _chart(page: Page, editor: str, pair: str, lines: list[Onsets], last: int, *, noticed: bool) -> Row:
    """`noticed`: some editor of this variant was asked, so all charts leave room for the answer and share one axis."""
    style = page.style[editor]
    label = f"{editor}, {pair}: step of onset of each image and run" + (", and first notice" if noticed else "")
    return {
        "editor": editor,
        "chart": both(lambda width: draw_onsets(lines, width, last=last, style=style, label=label, noticed=noticed)),
    }


def _table(page: Page, found: ReplicateAnalysis) -> list[Row]:
    """Per variant and editor: the median onset, the median first notice and the delay."""
    metric = page.given.onset_metric
    broken = {(row["pair"], row["editor"]): row for row in rows(found.onset_summary, metric=metric)}
    heard = {(row["pair"], row["editor"]): row for row in rows(found.noticing_summary, source=POOLED)}
    pairs = ordered(pair for pair, _ in (*broken, *heard))
    order = {editor: place for place, editor in enumerate(page.order)}
    keys = sorted({*broken, *heard}, key=lambda key: (pairs.index(key[0]), order.get(key[1], len(order))))
    return [
        {
            "pair": pair,
            "editor": editor,
            "onset": median_text(broken.get((pair, editor)), ""),
            "noticed": median_text(heard.get((pair, editor)), ""),
            "delay": median_text(heard.get((pair, editor)), "delay_"),
            "mean": _mean(heard.get((pair, editor))),
            "broken": broken.get((pair, editor)),
            "heard": heard.get((pair, editor)),
        }
        for pair, editor in keys
        if editor in page.style
    ]


def median_text(row: Row | None, prefix: str) -> tuple[str, str]:
    """(`7`, `5–9`): the text as the analysis wrote it, and the interval."""
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


def _unheard(noticing: pl.DataFrame) -> tuple[int, int, int]:
    """(questions asked, replies that were neither yes nor no, steps without an answer)."""
    if noticing.height == 0:
        return 0, 0, 0
    return tuple(int(noticing[name].sum() or 0) for name in ("asked", "unparsable", "missing"))  # type: ignore[return-value]
