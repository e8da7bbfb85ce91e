"""What every section needs: the input, the colours, and how many editors a chart can hold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from convergebench.report.chains import metric_order
from convergebench.report.input import ReportInput
from convergebench.report.missing import missing_text
from convergebench.report.palette import Style, styles

MOST_DRAWN = 12
"""Editors in one chart; beyond that lines cannot be told apart. Tables always list all."""
MOST_METRICS = 64
"""Metrics in a switch, more than are built in; plots and tables have all."""


@dataclass(frozen=True, slots=True)
class Page:
    """The input with its drawing choices. `order`: ranked editors first, best on top, then the rest."""

    given: ReportInput
    style: dict[str, Style]
    order: list[str]

    @property
    def drawn(self) -> list[str]:
        """The editors that charts show."""
        return self.order[:MOST_DRAWN]

    @property
    def undrawn(self) -> int:
        """How many are only in the tables."""
        return max(0, len(self.order) - MOST_DRAWN)

    def missing(self, metric: str, steps: Collection[int] | None = None) -> str:
        """How many of a metric's values are missing and why; at these steps only, if they are given."""
        part = self.given.measurements.filter(pl.col("metric") == metric)
        return missing_text(part if steps is None else part.filter(pl.col("step").is_in(list(steps))))

    def metrics(self, names: list[str]) -> list[str]:
        """Metrics in the report's order, without the lags and without more than a page can hold."""
        return [name for name in metric_order(self.given, names) if "-lag" not in name][:MOST_METRICS]


def open_page(given: ReportInput) -> Page:
    """Colours go by the manifest's order of editors, rows by rank."""
    ranked = [row["editor"] for row in given.ranked]
    ran = [editor for editor in given.editors if editor not in given.not_run]
    return Page(given, styles(given.editors), list(dict.fromkeys([*ranked, *ran])))
