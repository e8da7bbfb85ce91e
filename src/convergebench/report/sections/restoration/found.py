"""What every section of a restoration's page starts from: the analysis, its metrics, methods and words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from convergebench.analysis.restoration.result import INPUT, RestorationAnalysis
from convergebench.metrics.base import MetricFacts
from convergebench.report.input import ReportInput, Row
from convergebench.report.page import Page
from convergebench.report.wording import better, interval, number

NO_RESTORATION = "input (no restoration)"
"""The row of the degraded pictures themselves."""
NO_REFERENCE = "/"
"""Printed where there is no clean picture to compare with, as in the literature."""


def found_in(page: Page) -> RestorationAnalysis | None:
    """The analysis of the page; None where it was not made."""
    return page.given.result(RestorationAnalysis)


def methods_of(page: Page, frame: pl.DataFrame) -> list[str]:
    """The editors of a frame in the page's order, without the input."""
    there = set(frame["editor"]) if frame.height else set()
    return [editor for editor in page.order if editor in there]


def metrics_of(found: RestorationAnalysis, frame: pl.DataFrame) -> list[str]:
    """The metrics of a frame in the analysis' order."""
    there = frame["metric"].unique(maintain_order=True).to_list() if frame.height else []
    return [*(name for name in found.metrics if name in there), *(name for name in there if name not in found.metrics)]


def metric_head(name: str, given: ReportInput) -> Row:
    """Name, unit, direction and decimals of a metric, for the head of a column."""
    known = given.facts.get(name)
    return {
        "name": name,
        "unit": known.unit if known else "",
        "better": better(name, given.facts),
        "digits": digits(known),
        "summary": known.summary if known else "",
        "reference": bool(known and known.kind == "full-reference"),
    }


def digits(facts: MetricFacts | None) -> int:
    """Decimals that a metric is printed with: three for shares, two for decibels and marks out of 100."""
    return 2 if facts is not None and (facts.unit or max(map(abs, facts.range)) > 2) and facts.range[1] != 1 else 3


def direction(name: str, given: ReportInput) -> int:
    """1 where a greater value is better, −1 where a smaller one is, 0 where neither is."""
    return {"↑": 1, "↓": -1}.get(better(name, given.facts), 0)


def gain_text(value: float | None, places: int) -> str:
    """`+1.20`, `−0.31`, or nothing."""
    if value is None:
        return ""
    return ("+" if value > 0 else "") + number(value, places)


def value_cell(row: Row | None, places: int) -> Row:
    """Text, interval and mark of a table's cell; why it is empty where it is."""
    if row is None or row["mean"] is None:
        note = str(row.get("note") or "") if row else ""
        text = NO_REFERENCE if note == "no reference" else "–"
        return {"text": text, "interval": "", "best": False, "why": note}
    return {
        "text": number(row["mean"], places),
        "interval": interval(row["low"], row["high"], places),
        "best": bool(row.get("best")),
        "why": "",
    }


def unified_rows(found: RestorationAnalysis) -> pl.DataFrame:
    """The first-round results by which methods are compared: the first repeat under the unified prompt.

    A method that was never asked with it counts with its only prompt.
    """
    asked = found.restored.group_by("editor").agg(pl.col("prompt").unique().sort())
    own = {
        row["editor"]: found.unified if found.unified in row["prompt"] else row["prompt"][0]
        for row in asked.to_dicts()
        if found.unified in row["prompt"] or len(row["prompt"]) == 1
    }
    prompt = pl.col("editor").replace_strict(own, default=None, return_dtype=pl.String)
    first = pl.col("replicate") == pl.col("replicate").min().over("editor", "source")
    return found.restored.filter(pl.col("round") == 1, pl.col("prompt") == prompt).filter(first)


def has_intervals(own: Iterable[Row]) -> bool:
    """Whether any row has an interval."""
    return any(row["low"] is not None for row in own)


def by_key(frame: pl.DataFrame, *columns: str) -> dict[tuple[Any, ...], Row]:
    """The rows of a frame by the values of these columns."""
    return {tuple(row[column] for column in columns): row for row in frame.iter_rows(named=True)}


def numbers_of(rows: Iterable[Row], column: str) -> str:
    """`12`, or `10–12` where rows differ; nothing without rows."""
    known = sorted({int(row[column]) for row in rows if row.get(column) is not None})
    return "" if not known else str(known[0]) if len(known) == 1 else f"{known[0]}–{known[-1]}"


def prompt_facts(page: Page) -> dict[str, dict[str, Any]]:
    """Prompt → its group, length, fidelity and words, from the manifest."""
    found = page.given.manifest.get("pairs")
    return (
        {str(name): facts for name, facts in found.items() if isinstance(facts, dict)}
        if isinstance(found, dict)
        else {}
    )


__all__ = [
    "INPUT",
    "NO_REFERENCE",
    "NO_RESTORATION",
    "by_key",
    "digits",
    "direction",
    "found_in",
    "gain_text",
    "has_intervals",
    "methods_of",
    "metric_head",
    "metrics_of",
    "numbers_of",
    "prompt_facts",
    "unified_rows",
    "value_cell",
]
