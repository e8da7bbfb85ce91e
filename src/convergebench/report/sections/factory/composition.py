"""What the data are made of, and what they cost."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.factory.composition import OTHER
from convergebench.report.input import rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.factory.found import found_in


def composition_section(page: Page) -> dict[str, Any] | None:
    """Subsets beside the paper's, contents of instructions, cost per accepted edit."""
    found = found_in(page)
    if found is None:
        return None
    content = sorted(
        rows(found.instruction_content), key=lambda row: (row["editor"], row["bucket"] == OTHER, -row["n"])
    )
    return {
        "subsets": rows(found.composition),
        "content": [row for row in content if row["n"]],
        "costs": rows(found.edit_costs),
        "several": found.edits["editor"].n_unique() > 1,
    }


COMPOSITION = TemplateSection(
    "factory-composition", "Composition", "factory_composition.html", composition_section, key="made_of"
)
