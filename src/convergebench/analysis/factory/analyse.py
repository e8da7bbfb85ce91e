"""The analysis part `factory` from end to end."""

from __future__ import annotations

from dataclasses import replace

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.factory.calibration import agreement_table
from convergebench.analysis.factory.composition import composition_table, content_table
from convergebench.analysis.factory.costs import cost_table
from convergebench.analysis.factory.decided import attempts_table, decided_chains, edits_table, sessions_table
from convergebench.analysis.factory.funnel import funnel_table
from convergebench.analysis.factory.headline import factory_sentences
from convergebench.analysis.factory.judging import histogram_table, noise_table, pair_table, reply_table
from convergebench.analysis.factory.result import FactoryAnalysis
from convergebench.analysis.factory.separability import separability_tables
from convergebench.analysis.factory.success import success_table
from convergebench.analysis.factory.sweeps import sweep_tables
from convergebench.analysis.parts import AnalysisContext
from convergebench.documents import check_document
from convergebench.studies.factory_table import FactoryTable


def factory(run: AnalysisContext) -> FactoryAnalysis:
    """What was accepted, how far the judge can be trusted, and what the data are made of."""
    table = check_document(dict(run.spec.get("factory", {})), FactoryTable, where="[factory]")
    bootstrap = Bootstrap.of(run.settings)
    chains = decided_chains(run.chains, run.decisions)
    edits = edits_table(chains)
    attempts = attempts_table(chains, run.steps, run.answers)
    sessions = sessions_table(chains)
    sweeps, sweep_types = sweep_tables(edits, attempts, table, bootstrap)
    separability, features = separability_tables(attempts, run.measurements, bootstrap)
    found = FactoryAnalysis(
        headline=(),
        threshold=table.threshold,
        judged=table.judged,
        edits=edits,
        attempts=attempts,
        sessions=sessions,
        funnel=funnel_table(edits, sessions, table.attempts),
        success_by_type=success_table(edits, attempts, bootstrap),
        judge_histograms=histogram_table(edits, attempts),
        judge_noise=noise_table(attempts, table.threshold, bootstrap),
        role_replies=reply_table(chains),
        judge_pairs=pair_table(chains, bootstrap),
        sweeps=sweeps,
        sweep_types=sweep_types,
        judge_agreement=agreement_table(attempts, run.ratings, bootstrap),
        separability=separability,
        separability_features=features,
        composition=composition_table(edits, attempts, sessions),
        instruction_content=content_table(edits, bootstrap),
        edit_costs=cost_table(edits, run.answers, run.spending),
    )
    return replace(found, headline=factory_sentences(found, run.settings.confidence))
