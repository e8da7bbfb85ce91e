"""Pictures side by side: the input, every method and the clean picture, for successes, failures and the usual case."""

from __future__ import annotations

from typing import Any

import polars as pl

from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.report.environment import Panels
from convergebench.report.input import Row
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.restoration.choice import chosen_pictures, gains_of, strip_of
from convergebench.report.sections.restoration.found import found_in
from convergebench.report.sections.restoration.groups import ordered_kinds, title_of
from convergebench.report.sections.restoration.pictures import RestoredPictures, readable

MOST_PANELS = 64
"""Categories in the switch; the viewer has every chain."""


def panels_section(page: Page) -> dict[str, Any] | None:
    """A panel over all pictures, then one per category."""
    found = found_in(page)
    if found is None or not found.restored.height:
        return None
    pictures = RestoredPictures(page)
    kinds: list[str | None] = [None, *ordered_kinds(found)][:MOST_PANELS]
    panels = [one for one in (_panel(page, found, kind, pictures) for kind in kinds) if one["strips"]]
    if len(panels) == 2:  # one category: both say the same
        panels = panels[:1]
    if not panels:
        return None
    return {
        "panels": Panels("restoration-panel", "restoration_panels_panel.html", panels),
        "unified": found.unified,
        "more": page.undrawn,
    }


def _panel(page: Page, found: RestorationAnalysis, kind: str | None, pictures: RestoredPictures) -> Row:
    metric, gains = gains_of(page, found, kind=kind)
    strips = [strip_of(page, found, choice, pictures) for choice in chosen_pictures(page, found, kind=kind)]
    own = found.restored if kind is None else found.restored.filter(pl.col("kind") == kind)
    return {
        "name": "all pictures" if kind is None else title_of(kind),
        "metric": metric,
        "n": len({row["source"] for row in gains}),
        "all": own["source"].n_unique() if own.height else 0,
        "strips": readable(strips),
    }


PANELS = TemplateSection("restoration-panels", "Pictures", "restoration_panels.html", panels_section, key="pictures")
