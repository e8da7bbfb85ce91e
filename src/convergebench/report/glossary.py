"""Definitions of the terms on a page, in order of appearance."""

from __future__ import annotations

from convergebench.report.environment import TEMPLATES
from convergebench.studies.analysis_settings import AnalysisSettings
from convergebench.studies.units import Unit

UNITS = {
    "round trip": "An edit followed by the edit that undoes it. A perfect editor would return the source.",
    "step": "One edit. Each starts from the previous step's image, unless the variant says otherwise.",
    "round": "One repetition of what the study asks for.",
}

Terms = list[tuple[str, str, str]]
"""(anchor, term, meaning)."""


def read_terms(file: str) -> Terms:
    """The terms of a file with a line `anchor | term | meaning` each."""
    lines = (TEMPLATES / file).read_text(encoding="utf-8").splitlines()
    parts = [line.split(" | ", 2) for line in lines]
    return [(anchor, term, meaning) for anchor, term, meaning in parts]


RESTORATION = ("full-reference", "no-reference", "semantic", "interval", "missing", "simulated")
"""General terms that a restoration's page uses."""


def restoration_glossary(settings: AnalysisSettings, unit: Unit, *, decay: bool = False) -> Terms:
    """The terms of a restoration's page: its own first, without those of round trips."""
    own = read_terms("glossary_restoration.txt")
    general = [term for term in glossary(settings, unit) if term[0] in RESTORATION]
    failures = _worded(read_terms("glossary_decay.txt"), unit) if decay else []
    constants = (
        f"Intervals: {settings.confidence:.0%}, {settings.interval}, over photographs. Resamples: {settings.draws}, "
        f"seed {settings.seed}. Least share of pictures delivered: {settings.coverage:.0%}."
    )
    return [*own, *general, *failures, ("constants", "constants of this run", constants)]


def glossary(settings: AnalysisSettings, unit: Unit, *, decay: bool = False) -> Terms:
    """All terms, in the run's unit and with its constants at the end."""
    constants = (
        f"Half-life sentence: {settings.headline} at {settings.level}. Q: {', '.join(settings.quality) or 'none'}. "
        f"S: {settings.semantic or 'none'}. Distance of drift: {settings.distance}, floor {settings.floor:.5f}. "
        f"Intervals: {settings.confidence:.0%}, {settings.interval}. Resamples: {settings.draws}, seed "
        f"{settings.seed}. Longest cycle searched for: {settings.max_period}. "
        f"Verdict needs at least {settings.settling_rounds} {unit.heads}. "
        f"Half-life counts {'only lasting losses' if settings.sustained else 'the first passing'}."
    )
    terms = [("unit", unit.one, UNITS.get(unit.one, f"What n counts: {unit.many}.")), *read_terms("glossary.txt")]
    terms += read_terms("glossary_decay.txt") if decay else []
    return [*_worded(terms, unit), ("constants", "constants of this run", constants)]


def _worded(terms: Terms, unit: Unit) -> Terms:
    """The terms with the words of the run's unit in their texts."""
    values = {"way": "pair of instructions" if unit.way == "pair" else unit.way, "many": unit.many}
    values |= {"head": unit.head, "heads": unit.heads}
    return [(anchor, term, text.format(**values)) for anchor, term, text in terms]
