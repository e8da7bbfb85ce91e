"""Whether edits happened and were undone: per editor, and by category and pair."""

from __future__ import annotations

from typing import Any

import polars as pl

from convergebench.metrics.base import MetricFacts
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.wording import better, group_name, percent

ABSENT: Row = dict.fromkeys(("mean", "low", "high", "share"), None) | {"n_cases": 0, "n_missing": 0}
"""The cell of an editor without a row."""
LEGS = {"forward": "edit happened", "backward": "edit undone"}
"""Column heads of the legs; other roles have their name as head."""


def adherence_section(page: Page) -> list[Row]:
    """A table per metric or pair of metrics: per editor, whether the edit happened and was undone."""
    found = {
        (row["editor"], row["metric"], row["leg"]): row for row in rows(page.given.analysis.adherence, group="all")
    }
    tables = []
    for way in _ways(page):
        facts = [page.given.facts[name] for name in dict.fromkeys(metric for metric, _ in way)]
        lines = [
            {"editor": editor, "cells": [found.get((editor, *column), ABSENT) for column in way]}
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
    """The judges of metrics that ask one; the detail of their rows begins with the name."""
    asked, measured = [fact.name for fact in metrics if fact.asks], page.given.measurements
    if not asked or "detail" not in measured.columns:
        return ""
    raters = measured.filter(pl.col("metric").is_in(asked))["detail"].str.split("; ").list.first().unique()
    return ", ".join(sorted(name for name in raters.to_list() if name))


def _ways(page: Page) -> list[list[tuple[str, str]]]:
    """(metric, leg) of each table: a metric of forward steps shares one with the next of backward steps."""
    ways: list[list[tuple[str, str]]] = []
    table = page.given.analysis.adherence
    measured = list(dict.fromkeys(table.select("metric", "leg").iter_rows())) if table.height else []
    for metric in page.given.facts:
        columns = [one for one in measured if one[0] == metric]
        if columns == [(metric, "backward")] and ways and [leg for _, leg in ways[-1]] == ["forward"]:
            ways[-1] += columns
        elif columns:
            ways.append(columns)
    return ways


def _context(page: Page) -> dict[str, Any] | None:
    """The tables; None for a run of copies without adherence, since it asks for no edit."""
    tables = adherence_section(page)
    if not tables and page.given.decay is not None:
        return None
    return {"adherence": tables, "adherence_groups": adherence_groups(page)}


ADHERENCE = TemplateSection("adherence", "Adherence", "adherence.html", _context)
