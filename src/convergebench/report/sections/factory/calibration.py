"""How much the accepted set depends on threshold and weights, and how far the judge agrees with others."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.factory.result import FactoryAnalysis
from convergebench.report.charts.sweep import SweepChart, SweepLine
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.palette import Style
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.factory.found import drawn_editors, found_in

MOST_TYPES = 4
"""Most types that a row names; the table `sweep_types` has all."""


def calibration_section(page: Page) -> dict[str, Any] | None:
    """A panel per editor: curves and tables of the sweeps; and agreement with people and other judges."""
    found = found_in(page)
    if found is None or not found.sweeps.height:
        return None
    panels = [_panel(page, found, editor) for editor in drawn_editors(page, found)]
    return {
        "panels": Panels("factory-calibration", "factory_calibration_panel.html", panels),
        "agreement": rows(found.judge_agreement),
        "threshold": found.threshold,
    }


def _panel(page: Page, found: FactoryAnalysis, editor: str) -> Row:
    sweeps = {
        sweep: [
            {**row, "types": _types(found, row), "weights": _weights(row)}
            for row in rows(found.sweeps, editor=editor, sweep=sweep)
        ]
        for sweep in ("threshold", "weights")
    }
    along = sweeps["threshold"]
    style = page.style[editor]
    other = Style((style.slot + 1) % 8, "6 3")
    lines = [
        SweepLine(
            "edits accepted",
            style,
            tuple((row["threshold"], row["share"], row["share"], row["share_most"]) for row in along),
        ),
        SweepLine("overlap (Jaccard)", other, tuple((row["threshold"], row["jaccard"], None, None) for row in along)),
    ]
    label = f"{editor}: share of edits accepted and overlap with the accepted set, by threshold"
    chart = SweepChart(lines, found.threshold, "share", "threshold", label)
    return {"name": editor, "chart": chart, **sweeps, "n": along[0]["n"] if along else 0}


def _types(found: FactoryAnalysis, row: Row) -> str:
    """`+2 add-text, −1 zoom-in`: types whose number of accepted edits changes, most changed first."""
    own = rows(found.sweep_types, editor=row["editor"], sweep=row["sweep"], choice=row["choice"])
    changed = sorted(
        ((one["after"] - one["before"], one["edit_type"]) for one in own), key=lambda one: (-abs(one[0]), one)
    )
    said = [f"{change:+d} {name}".replace("-", "−", 1 if change < 0 else 0) for change, name in changed[:MOST_TYPES]]
    rest = len(changed) - MOST_TYPES
    return ", ".join(said) + (f" and {rest} more" if rest > 0 else "")


def _weights(row: Row) -> str:
    columns = ("instruction_compliance", "seamlessness", "preservation_balance", "technical_quality")
    return " / ".join(f"{100 * row[column]:.0f}" for column in columns)


CALIBRATION = TemplateSection(
    "factory-calibration", "Threshold and weights", "factory_calibration.html", calibration_section, key="calibration"
)
