"""The analysis part `restoration` from end to end."""

from __future__ import annotations

from dataclasses import replace

from convergebench.analysis.parts import AnalysisContext
from convergebench.analysis.restoration.contrasts import contrast_table
from convergebench.analysis.restoration.factors import factor_table
from convergebench.analysis.restoration.headline import restoration_sentences
from convergebench.analysis.restoration.infidelity import infidelity_tables
from convergebench.analysis.restoration.methods import category_table, method_table
from convergebench.analysis.restoration.outliers import outlier_table
from convergebench.analysis.restoration.prompts import prompt_table
from convergebench.analysis.restoration.refinement import refinement_table
from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.analysis.restoration.scope import restoration_scope
from convergebench.analysis.restoration.stability import stability_table
from convergebench.analysis.restoration.tradeoff import tradeoff_table


def restoration(run: AnalysisContext) -> RestorationAnalysis:
    """Which method restores best, whether the prompt matters, how steady and how true to the picture results are."""
    scope = restoration_scope(run)
    unfaithful, effects = infidelity_tables(run.labels, scope)
    found = RestorationAnalysis(
        headline=(),
        unified=scope.unified,
        metrics=scope.metrics,
        restored=scope.restored,
        prompt_results=prompt_table(scope),
        factor_effects=factor_table(scope),
        stability=stability_table(scope),
        outlier_repeats=outlier_table(scope),
        category_results=category_table(scope),
        method_results=method_table(scope),
        method_contrasts=contrast_table(scope),
        tradeoff=tradeoff_table(scope),
        refinement=refinement_table(scope),
        infidelity=unfaithful,
        infidelity_effects=effects,
    )
    return replace(found, headline=restoration_sentences(found, scope))
