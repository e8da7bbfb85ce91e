"""Diagnostics: properties of the image along the chain."""

from __future__ import annotations

from typing import Any

import polars as pl

from convergebench.report.charts.multiples import SmallChart
from convergebench.report.charts.scale import least_span
from convergebench.report.input import Row, closing_steps
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.curves import series_of
from convergebench.report.wording import axis_title


def diagnostics_section(page: Page) -> list[Row]:
    """One small chart per diagnostic, at the end of each round.

    Pictures within a round show the edit (turned sideways, an added object): a line through both kinds would zigzag.
    """
    frame = page.given.analysis.diagnostics
    if frame.height == 0 or page.given.steps.height == 0:
        return []
    ends = closing_steps(page.given).select(pl.col("index").alias("step").cast(frame.schema["step"]), "round").unique()
    frame = frame.join(ends, on="step")
    found = []
    for metric in page.metrics(frame["metric"].unique(maintain_order=True).to_list()):
        part = frame.filter(pl.col("metric") == metric)
        known = page.given.facts.get(metric)
        summary, least = known.summary if known else "", least_span(known)
        found.append(
            {
                "name": axis_title(metric, page.given.facts),
                "summary": summary,
                "missing": page.missing(metric, ends["step"].to_list()),
                "chart": SmallChart(metric, summary, series_of(page, part), least=least, x_title=page.given.unit.many),
            }
        )
    return found


def _context(page: Page) -> dict[str, Any] | None:
    panels = diagnostics_section(page)
    return None if not panels and page.given.decay is not None else {"diagnostics": panels}


DIAGNOSTICS = TemplateSection("diagnostics", "Diagnostics", "diagnostics.html", _context)
