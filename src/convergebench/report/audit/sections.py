"""The sections of an audit's page, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convergebench.report.audit.cards import cards
from convergebench.report.audit.heatmaps import heat_panels, heat_section
from convergebench.report.audit.lines import risk_panels, trace_panels
from convergebench.report.audit.numbers import (
    advice_section,
    confound_section,
    content_rows,
    failure_section,
    opinion_rows,
    range_section,
    rank_section,
    repeat_section,
)
from convergebench.report.audit.page import AuditPage, not_run_reasons
from convergebench.report.audit.terms import constants, glossary, provenance, runs_made
from convergebench.report.environment import Panels
from convergebench.report.sections.base import Context, TemplateSection


def _audited(name: str, title: str, context: Callable[[AuditPage], Context | None]) -> TemplateSection[AuditPage]:
    """A section that is shown if any metric has scores."""
    return TemplateSection(name, title, f"audit_{name}.html", lambda page: context(page) if page.audited else None)


def _unless_empty(name: str, find: Callable[[AuditPage], Any]) -> Callable[[AuditPage], Context | None]:
    def context(page: AuditPage) -> Context | None:
        found = find(page)
        return {name: found} if (found["rows"] if isinstance(found, dict) else found) else None

    return context


def _made(page: AuditPage) -> Context:
    files = [("tables as CSV and Parquet", "tables/"), ("the findings as JSON", "audit.json")]
    drawn = (page.out / "plots").is_dir() and any((page.out / "plots").iterdir())
    return {
        "files": files + ([("figures as PNG, SVG and PDF", "plots/")] if drawn else []),
        "made": provenance(page),
        "constants": constants(page),
        "runs_made": runs_made(page),
    }


SECTIONS: tuple[TemplateSection[AuditPage], ...] = (
    _audited(
        "advice",
        "What to use",
        lambda page: {"recommended": advice_section(page), "reasons": not_run_reasons(page)},
    ),
    _audited(
        "heat",
        "Failures by image",
        lambda page: {"heat": heat_section(page), "panels": Panels("heat", "audit_heat_panel.html", heat_panels(page))},
    ),
    _audited("counts", "Failure rates", lambda page: {"failed": failure_section(page)}),
    _audited(
        "traces",
        "Scores by step",
        lambda page: {"panels": Panels("trace", "audit_trace_panel.html", trace_panels(page))},
    ),
    _audited("confound", "Content or damage?", lambda page: {"confound": confound_section(page)}),
    _audited("content", "Added objects", _unless_empty("content", content_rows)),
    _audited(
        "risk", "Filter risk", lambda page: {"panels": Panels("risk", "audit_risk_panel.html", risk_panels(page))}
    ),
    _audited("ranks", "Ranks", lambda page: {"ranked": rank_section(page)}),
    _audited("ranges", "Ranges", lambda page: {"ranged": range_section(page)}),
    _audited("repeats", "Repeatability", _unless_empty("repeats", repeat_section)),
    _audited("opinions", "Human ratings", _unless_empty("opinions", opinion_rows)),
    TemplateSection("cards", "Every metric", "audit_cards.html", lambda page: {"cards": cards(page)}),
    TemplateSection("made", "How it was made", "audit_made.html", _made),
    TemplateSection("terms", "Definitions", "terms.html", lambda page: {"terms": glossary(page)}),
)
