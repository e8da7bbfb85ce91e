"""How the run was made, and the definitions of terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.report.glossary import glossary, restoration_glossary
from convergebench.report.made import provenance, toml_text
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection

MOST_PICTURES = 400
"""Most source images that the page credits; the manifest has all."""
MOST_SPEC = 40_000
"""Most characters of the study's text on the page; the manifest has all."""


def _made(page: Page) -> dict[str, Any]:
    given = page.given
    spec = toml_text(given.manifest.get("spec") or {})
    return {
        "spec": spec[:MOST_SPEC] + ("\n# … the rest is in manifest.json" if len(spec) > MOST_SPEC else ""),
        "files": _files(page),
        "made": provenance(given.manifest, analysis_version=given.analysis.version),
        **_pictures(given.manifest.get("sources") or {}),
    }


def _pictures(sources: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The untouched images with what their licences ask for: the line of credit, else where they come from."""
    rows = [
        {
            "id": id,
            "title": facts.get("title", ""),
            "licence": facts.get("licence") or "not stated",
            "credit": facts.get("credit") or facts.get("source") or "not stated",
        }
        for id, facts in sources.items()
    ]
    return {"pictures": rows[:MOST_PICTURES], "more_pictures": max(0, len(rows) - MOST_PICTURES)}


def _files(page: Page) -> list[tuple[str, str]]:
    """(name, link) of the folders beside the page that have the same findings as files."""
    known = (("tables as CSV, Parquet and LaTeX", page.given.run / "tables"), ("figures for print", page.out / "plots"))
    return [(what, page.relative(folder) + "/") for what, folder in known if folder.is_dir() and any(folder.iterdir())]


def _terms(page: Page) -> dict[str, Any]:
    given = page.given
    terms = restoration_glossary if given.result(RestorationAnalysis) else glossary
    return {"terms": terms(given.analysis.settings, given.unit, decay=given.decay is not None)}


MADE = TemplateSection("made", "How it was made", "made.html", _made)
TERMS = TemplateSection("terms", "Definitions", "terms.html", _terms)
