"""The audit from end to end: scores in, every table, sentence and note out."""

from __future__ import annotations

from dataclasses import replace

from convergebench.analysis.audit.confound import clean_scores, confound_table
from convergebench.analysis.audit.content import content_table
from convergebench.analysis.audit.contradictions import contradiction_table
from convergebench.analysis.audit.filter_risk import filter_table
from convergebench.analysis.audit.gaps import cell_gaps, cell_states, cell_table, failure_table, run_gaps, tallies
from convergebench.analysis.audit.headline import sentences
from convergebench.analysis.audit.material import arrange
from convergebench.analysis.audit.notes import notes
from convergebench.analysis.audit.opinions import opinion_table
from convergebench.analysis.audit.pairs import pair_table
from convergebench.analysis.audit.ranges import range_table
from convergebench.analysis.audit.ranks import rank_table
from convergebench.analysis.audit.recommendations import recommendation_table
from convergebench.analysis.audit.repeats import repeat_table
from convergebench.analysis.audit.result import AUDIT_VERSION, AuditAnalysis, AuditInput
from convergebench.analysis.audit.scaling import check_settings
from convergebench.analysis.audit.settings import AuditSettings
from convergebench.analysis.audit.steps import choose_steps
from convergebench.analysis.audit.traces import trace_table
from convergebench.analysis.audit.verdicts import metric_table


def analyse_audit(given: AuditInput, settings: AuditSettings) -> AuditAnalysis:
    """Judge every metric by how it follows the damage of repeated editing.

    Raises:
        StudyError: the settings have no meaning, or the tables contradict each other.
    """
    check_settings(settings)
    material = arrange(given, settings)
    steps = choose_steps(material)
    used = replace(settings, gaps=steps.gaps, damage=material.damage_metric)
    material = replace(material, settings=used)
    own = run_gaps(material, steps.gaps)
    gaps, clean = cell_gaps(own, material), clean_scores(material)
    found = tallies(gaps, material.bootstrap)
    frames = {
        "metrics": metric_table(given, material, gaps, found),
        "gaps": gaps,
        "cells": cell_table(gaps),
        "failures": failure_table(found, list(material.scales)),
        "pairs": pair_table(cell_states(gaps), material),
        "traces": trace_table(material),
        "confound": confound_table(material, gaps, clean),
        "ranges": range_table(material),
        "content": content_table(material, gaps),
        "filter_risk": filter_table(material, steps.gaps, clean),
        "ranks": rank_table(material),
        "opinions": opinion_table(given.opinions, given.facts, settings.confidence),
        "repeats": repeat_table(given.repeats, given.facts, settings),
        "contradictions": contradiction_table(own, material),
    }
    frames["recommendations"] = recommendation_table(
        frames["metrics"], frames["filter_risk"], frames["confound"], material
    )
    return AuditAnalysis(
        settings=used,
        version=AUDIT_VERSION,
        headline=sentences(frames, material),
        notes=notes(frames, material, steps, settings),
        **frames,
    )
