"""The audit from end to end: from scores to every table, sentence and note."""

from __future__ import annotations

from dataclasses import replace

from convergebench.analysis.audit.audit_data import arrange
from convergebench.analysis.audit.confound import clean_scores, confound_table
from convergebench.analysis.audit.content import content_table
from convergebench.analysis.audit.contradictions import contradiction_table
from convergebench.analysis.audit.filter_risk import filter_table
from convergebench.analysis.audit.gaps import cell_gaps, cell_states, cell_table, failure_table, run_gaps, tallies
from convergebench.analysis.audit.headline import sentences
from convergebench.analysis.audit.notes import notes
from convergebench.analysis.audit.opinions import opinion_table
from convergebench.analysis.audit.pairs import pair_table
from convergebench.analysis.audit.ranges import range_table
from convergebench.analysis.audit.ranks import rank_table
from convergebench.analysis.audit.recommendations import recommendation_table
from convergebench.analysis.audit.repeats import repeat_table
from convergebench.analysis.audit.result import AUDIT_VERSION, AuditAnalysis, AuditInput
from convergebench.analysis.audit.settings import RANGES
from convergebench.analysis.audit.steps import choose_steps
from convergebench.analysis.audit.traces import trace_table
from convergebench.analysis.audit.verdicts import metric_table
from convergebench.studies.analysis_settings import AuditSettings


def analyse_audit(given: AuditInput, settings: AuditSettings) -> AuditAnalysis:
    """Judge every metric by whether its scores fall with the damage of repeated editing.

    Raises:
        StudyError: the tables contradict each other.
    """
    settings = replace(settings, ranges={**RANGES, **settings.ranges})
    data = arrange(given, settings)
    steps = choose_steps(data)
    used = replace(settings, gaps=steps.gaps, damage=data.damage_metric)
    data = replace(data, settings=used)
    own = run_gaps(data, steps.gaps)
    gaps, clean = cell_gaps(own, data), clean_scores(data)
    found = tallies(gaps, data.bootstrap)
    frames = {
        "metrics": metric_table(given, data, gaps, found),
        "gaps": gaps,
        "cells": cell_table(gaps),
        "failures": failure_table(found, list(data.scales)),
        "pairs": pair_table(cell_states(gaps), data),
        "traces": trace_table(data),
        "confound": confound_table(data, gaps, clean),
        "ranges": range_table(data),
        "content": content_table(data, gaps),
        "filter_risk": filter_table(data, steps.gaps, clean),
        "ranks": rank_table(data),
        "opinions": opinion_table(given.opinions, given.facts, settings.confidence),
        "repeats": repeat_table(given.repeats, given.facts, settings),
        "contradictions": contradiction_table(own, data),
    }
    frames["recommendations"] = recommendation_table(frames["metrics"], frames["filter_risk"], frames["confound"], data)
    return AuditAnalysis(
        settings=used,
        version=AUDIT_VERSION,
        headline=sentences(frames, data),
        notes=notes(frames, data, steps, settings),
        **frames,
    )
