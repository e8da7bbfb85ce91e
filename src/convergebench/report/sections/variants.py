"""Every variant against its baseline, and how often the requested operation happened."""

from __future__ import annotations

from typing import Any

import polars as pl

from convergebench.analysis.series import facts_of_series
from convergebench.report.charts.differences import Difference, DifferenceChart, VariantLine
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.variant import family_of, family_place, family_words, instruction_text, ordered
from convergebench.report.wording import better, interval, number

MOST_STEPS = 4
"""Steps side by side in one chart: the first ones and the last."""


def variants_section(page: Page) -> list[Row]:
    """One panel per metric: for each family a chart of differences and their numbers."""
    if page.given.decay is None or page.given.decay.variants.height == 0:
        return []
    frame = page.given.decay.variants
    named = page.metrics(frame["metric"].unique(maintain_order=True).to_list())
    panels = [_panel(page, frame.filter(pl.col("metric") == metric), metric) for metric in named]
    return [panel for panel in panels if panel["families"]]


def _panel(page: Page, part: pl.DataFrame, metric: str) -> Row:
    known = facts_of_series(metric, page.given.facts)
    families: dict[str, list[Row]] = {}
    for row in part.iter_rows(named=True):
        families.setdefault(family_of(row["pair"], row["category"]), []).append(row)
    return {
        "name": metric,
        "summary": known.summary if known else "",
        "families": [_family(page, metric, name, families[name]) for name in sorted(families, key=family_place)],
    }


def shown_steps(steps: set[int]) -> list[int]:
    """At most four steps: the first ones and the last."""
    listed = sorted(steps)
    return listed if len(listed) <= MOST_STEPS else [*listed[: MOST_STEPS - 1], listed[-1]]


def _family(page: Page, metric: str, family: str, found: list[Row]) -> Row:
    heading, what = family_words(family)
    steps = shown_steps({row["step"] for row in found})
    pairs = ordered(row["pair"] for row in found)
    cells = {(row["pair"], row["step"], row["editor"]): row for row in found}
    lines = [
        VariantLine(
            pair,
            f"against {next(row['baseline'] for row in found if row['pair'] == pair)}",
            tuple(tuple(_dots(page, cells, pair, step)) for step in steps),
        )
        for pair in pairs
    ]
    direction = {"↑": 1, "↓": -1}.get(better(metric, page.given.facts), 0)
    columns = [f"step {step}" for step in steps]
    title = f"{metric}, difference to the baseline"
    label = f"{heading}: {title}. " + "; ".join(_describe(row) for row in found[:12])
    drawn = any(dot.value is not None for line in lines for dots in line.columns for dot in dots)
    return {
        "name": family,
        "heading": heading,
        "what": what,
        "chart": DifferenceChart(lines, columns, title, label, direction) if drawn else None,
        "rows": sorted(found, key=lambda row: (pairs.index(row["pair"]), row["step"])),
        "instructions": [
            (pair, instruction_text(_pairs(page), pair)) for pair in pairs if instruction_text(_pairs(page), pair)
        ],
    }


def _pairs(page: Page) -> dict[str, Any]:
    found = page.given.manifest.get("pairs")
    return found if isinstance(found, dict) else {}


def _dots(page: Page, cells: dict[tuple[str, int, str], Row], pair: str, step: int) -> list[Difference]:
    found = []
    for editor in page.drawn:
        row = cells.get((pair, step, editor))
        if row is not None:
            says = f"{editor}, {pair} at step {step}: {_describe(row)}"
            found.append(Difference(editor, page.style[editor], row["difference"], row["low"], row["high"], says))
    return found


def _describe(row: Row) -> str:
    ends = interval(row["low"], row["high"])
    return (
        f"{row['pair']} {number(row['mean'])} against {number(row['baseline_mean'])}, difference "
        f"{number(row['difference'])}{f' ({ends})' if ends else ''}, {row['n_sources']} sources, "
        f"{row['n_cases']} cases, {row['n_missing']} missing"
    )


def success_section(page: Page) -> list[Row]:
    """How often the requested operation happened, with its interval."""
    if page.given.decay is None:
        return []
    found = rows(page.given.decay.success)
    pairs = ordered(row["pair"] for row in found)
    found = [row for row in found if row["editor"] in page.style]
    order = {editor: place for place, editor in enumerate(page.order)}
    found.sort(key=lambda row: (pairs.index(row["pair"]), row["operation"] or "", order.get(row["editor"], len(order))))
    return found


def _context(page: Page) -> dict[str, Any] | None:
    panels, success = variants_section(page), success_section(page)
    if not panels and not success:
        return None
    return {"variants": Panels("variant", "variants_panel.html", panels), "success": success}


VARIANTS = TemplateSection("variants", "Variants", "variants_section.html", _context)
