"""The result of a run that was made until it is decided: tables, sentences, and the ranking without fixed-n claims.

Intervals and tests for a number of images that was fixed in advance do not hold for a run that its own results stopped.
So the tables of such a run have no intervals, except the pairwise one, which has those that hold at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from convergebench.analysis.contrast import contrast_sentences
from convergebench.analysis.parts import AnalysisContext
from convergebench.analysis.result import Analysis
from convergebench.analysis.schemas import AnalysisTables, B, F, N, T, clean
from convergebench.analysis.sequential.decide import PairFinding, UntilDecision, decide, looks_of
from convergebench.analysis.sequential.question import UntilQuestion
from convergebench.analysis.sequential.scores import Scores
from convergebench.analysis.sequential.wording import finding_sentence, stopped_sentence
from convergebench.studies.units import Unit

SCHEMAS: dict[str, dict[str, type[pl.DataType]]] = {
    "until": {
        **{"one": T, "other": T, "verdict": T, "within": B, "difference": F, "low": F, "high": F, "p": F},
        **{"confidence": F, "n_images": N, "n_partial": N, "n_missing": N, "n_suite": N, "most": N, "method": T},
    },
    "until_looks": {"one": T, "other": T, "images": N, "low": F, "high": F},
}


@dataclass(frozen=True)
class UntilAnalysis(AnalysisTables):
    """What was to be decided, and what was."""

    decision: UntilDecision
    headline: tuple[str, ...]
    until: pl.DataFrame
    """one, other, verdict (ahead, behind, alike, open), within (every difference of interest is excluded), difference,
    low, high (points; hold at any time and for all comparisons together), p, confidence, n_images, n_partial (images
    with rounds left), n_missing (images that cannot be compared), n_suite, most, method."""
    until_looks: pl.DataFrame
    """one, other, images, low, high: the interval after every image."""


def until_analysis(run: AnalysisContext, question: UntilQuestion) -> UntilAnalysis:
    """Look at a run as it stands."""
    found = decide(question, Scores(run, question).differences)
    looks = [
        {"one": one, "other": other, **look._asdict()}
        for (one, other), seen in found.seen.items()
        for look in looks_of(question, seen)
    ]
    # what was found comes first, then how it was found
    sentences = (*(finding_sentence(one, question) for one in found.findings), stopped_sentence(found))
    return UntilAnalysis(
        decision=found,
        headline=sentences,
        until=clean(pl.DataFrame([_row(one, question) for one in found.findings], schema=SCHEMAS["until"])),
        until_looks=clean(pl.DataFrame(looks, schema=SCHEMAS["until_looks"])),
    )


def without_fixed_claims(analysis: Analysis, until: UntilAnalysis, unit: Unit) -> Analysis:
    """The analysis with the sentences and intervals of the decision in place of those for a fixed number of images."""
    fixed = contrast_sentences(analysis.ranking, analysis.pairwise, analysis.settings, unit)
    others = [sentence for sentence in analysis.headline if sentence not in fixed]
    found = {frozenset((one.one, one.other)): one for one in until.decision.findings}
    rows = [
        _pairwise(row, one)
        for row in analysis.pairwise.to_dicts()  # a pair that is not part of the question has no valid test
        if (one := found.get(frozenset((row["better"], row["worse"])))) and one.difference is not None
    ]
    bare: dict[str, Any] = {
        name: _without_intervals(frame) for name, frame in analysis.tables().items() if name != "pairwise"
    }
    return replace(
        analysis,
        **bare,
        headline=(*until.headline, *others),
        pairwise=pl.DataFrame(rows, schema=analysis.pairwise.schema),
    )


def _without_intervals(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame without values in its columns for the ends of intervals; the shares of places have none to keep."""
    if frame.columns == ["editor", "place", "share"]:
        return frame.clear()
    ends = [name for name in frame.columns if name in ("low", "high") or name.endswith(("_low", "_high"))]
    return frame.with_columns(pl.lit(None, dtype=frame.schema[name]).alias(name) for name in ends)


def _row(one: PairFinding, question: UntilQuestion) -> dict[str, object]:
    return {
        **{"one": one.one, "other": one.other, "verdict": one.verdict, "within": one.within},
        **{"difference": one.difference, "low": one.low, "high": one.high, "p": one.p},
        **{"confidence": 1 - question.error, "n_images": one.images, "n_partial": one.partial},
        **{"n_missing": one.missing, "n_suite": len(question.order), "most": question.most, "method": question.method},
    }


def _pairwise(row: dict[str, object], one: PairFinding) -> dict[str, object]:
    """A row of the pairwise table with the interval and the test that hold at any time."""
    none = {"needed": None, "smallest_p": 0.0, "exact": False}
    difference = one.difference or 0.0
    ahead = difference >= 0
    low, high = (one.low, one.high) if ahead else (-one.high, -one.low)
    better, worse = (one.one, one.other) if ahead else (one.other, one.one)
    return {
        **{**row, **none, "better": better, "worse": worse, "difference": abs(difference), "low": low, "high": high},
        **{"p": one.p, "p_holm": one.p, "significant": bool(one.loser), "n_sources": one.images},
    }
