"""What every section of a factory's page starts from."""

from __future__ import annotations

from convergebench.analysis.factory.result import FactoryAnalysis
from convergebench.edits.taxonomy import taxonomy
from convergebench.report.input import Row
from convergebench.report.page import Page

MOST_EDITORS = 6
"""Most editors that charts are drawn for; the tables have all."""


def found_in(page: Page) -> FactoryAnalysis | None:
    """The analysis of the page; None where it was not made, or nothing was begun."""
    found = page.given.result(FactoryAnalysis)
    return found if found is not None and found.edits.height else None


def drawn_editors(page: Page, found: FactoryAnalysis) -> list[str]:
    """The editors with edits, in the page's order."""
    there = set(found.edits["editor"])
    return [editor for editor in page.order if editor in there][:MOST_EDITORS]


def type_name(identity: str) -> str:
    """The words of an edit type, or its id where this version does not know it."""
    known = taxonomy().get(identity)
    return known.name if known else identity


def criteria_text(row: Row) -> str:
    """`compliance 0.9 · seamlessness 0.8 · …` of a judged attempt; empty where there is no judgement."""
    names = {
        "compliance": "instruction_compliance",
        "seamlessness": "seamlessness",
        "preservation": "preservation_balance",
        "technical": "technical_quality",
    }
    if any(row[column] is None for column in names.values()):
        return ""
    return " · ".join(f"{word} {row[column]:.2f}" for word, column in names.items())
