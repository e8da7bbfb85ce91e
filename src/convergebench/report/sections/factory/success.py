"""Success by edit type, beside the paper's rates."""

from __future__ import annotations

from typing import Any

import polars as pl

from convergebench.analysis.factory.result import FactoryAnalysis
from convergebench.edits.taxonomy import categories, taxonomy
from convergebench.report.charts.rates import RateChart, RateRow
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.factory.found import drawn_editors, found_in, type_name

UNITS = ("edit", "first-attempt", "attempt")


def success_section(page: Page) -> dict[str, Any] | None:
    """A panel per editor: chart and table of the first turns' edits."""
    found = found_in(page)
    if found is None or not found.success_by_type.height:
        return None
    panels = [_panel(page, found, editor) for editor in drawn_editors(page, found)]
    return {"panels": Panels("factory-success", "factory_success_panel.html", panels)}


def _panel(page: Page, found: FactoryAnalysis, editor: str) -> Row:
    part = found.success_by_type.filter(pl.col("editor") == editor, pl.col("turns") == "first")
    cells = {(row["group"], row["unit"]): row for row in rows(part)}
    lines = [_line(group, cells) for group in _ordered({group for group, _ in cells})]
    chart = RateChart(
        [
            RateRow(
                line["name"],
                line["edit"]["n"],
                line["edit"]["share"],
                line["edit"]["low"],
                line["edit"]["high"],
                line["first"]["share"] if line["first"] else None,
                line["edit"]["paper"],
                line["head"],
            )
            for line in lines
        ],
        page.style[editor],
        "edits accepted",
        f"{editor}: share of edits accepted, overall, by category and by type; the table below has the numbers",
    )
    return {"name": editor, "chart": chart, "lines": lines}


def _line(group: str, cells: dict[tuple[str, str], Row]) -> Row:
    kind, _, name = group.partition(":")
    words = {"all": "all edits", "category": name, "type": type_name(name)}[kind]
    edit, first, attempt = (cells.get((group, unit)) for unit in UNITS)
    empty = {"n": 0, "share": None, "low": None, "high": None, "paper": None, "n_missing": 0, "n_sources": 0}
    return {"name": words, "head": kind != "type", "edit": edit or empty, "first": first, "attempt": attempt}


def _ordered(groups: set[str]) -> list[str]:
    """All, then each category with its types, in the taxonomy's order; unknown ones last."""
    order = ["all"]
    for category in categories():
        order.append(f"category:{category}")
        order += [f"type:{one.id}" for one in taxonomy().values() if one.category == category]
    place = {group: number for number, group in enumerate(order)}
    return sorted(groups, key=lambda group: (place.get(group, len(order)), group))


SUCCESS = TemplateSection("factory-success", "Success by type", "factory_success.html", success_section, key="success")
