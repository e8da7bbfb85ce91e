"""Definitions of the terms on the audit's page, which numbers link to, and how the audit was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from convergebench.analysis.audit.settings import BEYOND, OFTEN, images_for
from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.report.audit.page import AuditPage
from convergebench.report.glossary import Terms, read_terms
from convergebench.report.made import provenance as how_run


def glossary(page: AuditPage) -> Terms:
    """Every term of the page, in order of appearance, with this audit's constants filled in."""
    settings = page.given.audit.settings
    values = {
        "one": page.unit.one,
        "many": page.unit.many,
        "unit": _unit(settings.by),
        "baseline": settings.baseline,
        "gaps": ", ".join(f"Δ{at}" for at in page.gaps) or "none",
        "sure": f"{settings.confidence:.0%}",
        "damage": f": {settings.damage}" if settings.damage else "",
        "needed": _needed(settings.percentiles),
        "often": f"{OFTEN:.0%}",
        "enough": settings.enough,
        "fewest": FEWEST_SOURCES,
        "beyond": BEYOND,
    }
    return [(a, term.format(**values), text.format(**values)) for a, term, text in read_terms("glossary_audit.txt")]


def _unit(by: str) -> str:
    return "every single edit." if by == "step" else "whole rounds, after which the image should match its source."


def _needed(percentiles: Sequence[float]) -> str:
    return ", ".join(f"{images_for(one)} for percentile {one:g}" for one in sorted(set(percentiles)))


def constants(page: AuditPage) -> list[tuple[str, str]]:
    """Every setting of the audit as it was used."""
    settings = page.given.audit.settings
    fixed = {"often": OFTEN, "fewest sources": FEWEST_SOURCES, "images beyond a percentile": BEYOND}
    used = {one.name: getattr(settings, one.name) for one in fields(settings)}
    return [(name, _text(value)) for name, value in {**used, **fixed}.items()]


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_text(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(_text(item) for item in value) or "none"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if value not in ("", None) else "not set"


def provenance(page: AuditPage) -> list[tuple[str, str]]:
    """(name, value) rows of how the audit was made."""
    made = page.given.made
    found = [
        (name, _text(made.get(name))) for name in ("command", "date", "version") if name in made or name == "command"
    ]
    found += [(name, _text(value)) for name, value in made.items() if name not in (*_SHOWN_FIRST, "runs")]
    return [(name, "not recorded" if value == "not set" else value) for name, value in found] + [
        ("analysis version", str(page.given.audit.version))
    ]


_SHOWN_FIRST = ("command", "date", "version", "title")


def runs_made(page: AuditPage) -> list[tuple[str, list[tuple[str, str]]]]:
    """Per run, how it was made."""
    facts = page.given.made.get("runs") or {}
    return [
        (run, [row for row in how_run(facts.get(run) or {}, analysis_version=0) if row[0] != "analysis version"])
        for run in page.given.runs
    ]
