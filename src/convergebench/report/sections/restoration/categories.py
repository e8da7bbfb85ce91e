"""Categories of pictures by method and metric; `/` where there is no clean picture to compare with."""

from __future__ import annotations

from typing import Any

import polars as pl

from convergebench.analysis.restoration.result import INPUT
from convergebench.report.environment import Panels
from convergebench.report.input import Row
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.restoration.found import (
    by_key,
    found_in,
    methods_of,
    metric_head,
    metrics_of,
    value_cell,
)
from convergebench.report.sections.restoration.groups import SETS, family_of

Cells = dict[tuple[Any, ...], Row]


def categories_section(page: Page) -> dict[str, Any] | None:
    """A panel per metric (categories down, methods across) and the literature's form: methods down, metrics across."""
    found = found_in(page)
    if found is None or not found.category_results.height:
        return None
    frame = found.category_results
    cells: Cells = by_key(frame, "category", "editor", "metric")
    names = [*([INPUT] if INPUT in set(frame["editor"]) else []), *methods_of(page, frame)]
    heads = [metric_head(name, page.given) for name in metrics_of(found, frame)]
    groups = grouped(frame)
    panels = [_panel(head, groups, names, cells) for head in heads]
    return {
        "panels": Panels("restoration-category", "restoration_categories_panel.html", panels, {"names": names}),
        "heads": heads,
        "blocks": [
            {**group, "categories": [_block(one, heads, names, cells) for one in group["categories"]]}
            for group in groups
        ],
        "unified": found.unified,
        "several": len(names) > 1,
        "slashes": any(note == "no reference" for note in frame["note"]),
        "paper": frame["paper"].is_not_null().any(),
    }


def grouped(frame: pl.DataFrame) -> list[Row]:
    """`title` and `categories` of each set and family, in the frame's order within them."""
    known = frame.select("category", "title", "set").unique(subset="category", maintain_order=True).to_dicts()
    found: dict[tuple[int, str, str], list[Row]] = {}
    sets = list(SETS)
    for row in known:
        place = sets.index(row["set"]) if row["set"] in sets else len(sets)
        found.setdefault((place, row["set"], family_of(row["category"], row["set"])), []).append(row)
    families = list(found)
    families.sort(key=lambda key: key[0])  # families keep the order in which they appear
    return [
        {"title": _heading(name, family), "categories": found[place, name, family]} for place, name, family in families
    ]


def _heading(set_name: str, family: str) -> str:
    title = SETS.get(set_name, set_name)
    return f"{title}: {family}" if family else title


def _panel(head: Row, groups: list[Row], names: list[str], cells: Cells) -> Row:
    lines = [
        {
            "title": group["title"],
            "rows": [
                {
                    "title": one["title"] or one["category"],
                    "cells": [
                        value_cell(cells.get((one["category"], name, head["name"])), head["digits"]) for name in names
                    ],
                    "n": _pictures(one["category"], head["name"], names, cells),
                }
                for one in group["categories"]
            ],
        }
        for group in groups
    ]
    return {"name": head["name"], "head": head, "groups": lines}


def _pictures(category: str, metric: str, names: list[str], cells: Cells) -> int:
    found = (cells.get((category, name, metric)) for name in names)
    return max((row["n_cases"] or 0 for row in found if row), default=0)


def _block(one: Row, heads: list[Row], names: list[str], cells: Cells) -> Row:
    return {
        "title": one["title"] or one["category"],
        "rows": [
            {
                "editor": name,
                "cells": [
                    {**value_cell(row, head["digits"]), "paper": row["paper"] if row else None}
                    for head in heads
                    for row in [cells.get((one["category"], name, head["name"]))]
                ],
            }
            for name in names
            if any((one["category"], name, head["name"]) in cells for head in heads)
        ],
        "n": max((_pictures(one["category"], head["name"], names, cells) for head in heads), default=0),
    }


CATEGORIES = TemplateSection(
    "restoration-categories", "By category", "restoration_categories.html", categories_section, key="categories"
)
