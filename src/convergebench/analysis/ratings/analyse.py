"""The analysis part `ratings` from end to end."""

from __future__ import annotations

from dataclasses import replace

from convergebench.analysis.parts import AnalysisContext
from convergebench.analysis.ratings.agreement import agreement_table
from convergebench.analysis.ratings.answers import read_answers
from convergebench.analysis.ratings.flags import flagged_raters, raters_table
from convergebench.analysis.ratings.headline import rating_sentences
from convergebench.analysis.ratings.means import contrast_rows, distribution_table, means_table
from convergebench.analysis.ratings.preferences import (
    pair_table,
    preference_contrasts,
    preference_model,
    preference_table,
)
from convergebench.analysis.ratings.result import RatingsAnalysis, frame


def ratings(run: AnalysisContext) -> RatingsAnalysis:
    """What people say of the methods, how far they agree, and which raters can be relied on."""
    confidence = run.settings.confidence
    answers = read_answers(run.ratings, run.chains, images=run.sources)
    raters = raters_table(answers)
    every = answers.first()
    kept = every.without(flagged_raters(raters))
    model = preference_model(kept.pairs)
    found = RatingsAnalysis(
        headline=(),
        rating_means=means_table(kept.scores, every.scores, confidence),
        rating_distribution=distribution_table(kept.scores),
        rating_contrasts=frame(
            "rating_contrasts", [*contrast_rows(kept.scores, confidence), *preference_contrasts(model, confidence)]
        ),
        rating_agreement=agreement_table(kept, every, confidence),
        preferences=preference_table(model, confidence),
        preference_pairs=pair_table(model),
        raters=raters,
    )
    return replace(found, headline=rating_sentences(found, confidence))
