"""The score of one editor in two runs: the difference on the cases that both have, with its interval and test.

The two are compared as two editors of one run are (`common_cases`): what was not delivered, not done or not undone
counts 0, so a run cannot gain by failing, refusing or doing nothing on hard cases. A case is the same if the source
image's bytes, the instructions and the replicate are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from convergebench.analysis.adherence import rounds_adhered
from convergebench.analysis.area import areas
from convergebench.analysis.common_cases import make_comparison
from convergebench.analysis.paired import compare_paired
from convergebench.analysis.result import AnalysisInput
from convergebench.analysis.score import make_score
from convergebench.analysis.trajectories import trajectories
from convergebench.errors import StudyError
from convergebench.studies.analysis_settings import AnalysisSettings

NOW, BEFORE = "now", "before"


@dataclass(frozen=True, slots=True)
class ScoredEditor:
    """One editor of one run."""

    run: str
    editor: str
    given: AnalysisInput
    images: Mapping[str, str]
    """Name of a source → hash of its image."""
    words: Mapping[str, Mapping[str, Any]]
    """Label of an edit → its instructions."""


class PairedScoreChange(NamedTuple):
    """The score now and before, and now − before with its interval (NaN with too few images) and two-sided p."""

    now: float
    before: float
    difference: float
    low: float
    high: float
    p: float
    rounds: int
    n_cases: int
    n_sources: int
    n_left_out: int
    """Cases of the new run that the other lacks, has with other words, or has not finished."""
    formula: str


def compare_scores(now: ScoredEditor, before: ScoredEditor, settings: AnalysisSettings) -> PairedScoreChange:
    """Compare; `StudyError` if the runs have no case in common or measured it in different ways."""
    _require_alike(now, before, settings)
    same = [label for label, words in now.words.items() if before.words.get(label) == words]
    sides = [_keyed(one, name, same) for one, name in ((now, NOW), (before, BEFORE))]
    chains = [side[0] for side in sides]
    common = set(chains[0]["case"]) & set(chains[1]["case"])
    shared = pl.col("case").is_in(list(common))
    measurements = pl.concat([side[1] for side in sides], how="diagonal_relaxed").filter(shared)
    given = AnalysisInput(
        measurements=measurements,
        chains=pl.concat(chains, how="diagonal_relaxed").filter(shared),
        facts={**before.given.facts, **now.given.facts},
        simulated=frozenset(),
        deterministic=frozenset(),
        uninstructed=frozenset(
            name for one, name in ((now, NOW), (before, BEFORE)) if one.editor in one.given.uninstructed
        ),
        unit=now.given.unit,
    )
    data = trajectories(given)
    adhered = rounds_adhered(data, measurements, settings, uninstructed=given.uninstructed)
    score = make_score(areas(data), settings, adhered=adhered.measured)
    comparison = make_comparison(data, score, adhered)
    cases = comparison.common_cases((NOW, BEFORE)) if common else None
    if cases is None or not cases.horizon.size or not score.metrics:
        raise StudyError(
            f"{now.run} and {before.run} have no measured case of {now.editor} in common: the same image, words and "
            "replicate"
        )
    one, other = (comparison.features(cases, name) for name in (NOW, BEFORE))
    found = compare_paired(
        one,
        other,
        score.value,
        confidence=settings.confidence,
        exact_up_to=settings.exact_sources,
        permutations=settings.permutations,
        seed=settings.seed,
    )
    all_cases = now.given.chains.filter(pl.col("editor") == now.editor).height
    values = [float(score.value(side.sum(axis=0))) for side in (one, other)]
    return PairedScoreChange(
        *(values[0], values[1], found.difference, found.low, found.high, found.p),
        rounds=int(cases.horizon.max()),
        n_cases=int(cases.horizon.size),
        n_sources=found.n_sources,
        n_left_out=all_cases - int(cases.horizon.size),
        formula=score.formula,
    )


def _keyed(side: ScoredEditor, name: str, labels: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Chains and measurements of the editor, with cases and sources named by what makes them the same."""
    image = pl.col("source").replace_strict(dict(side.images), default=None, return_dtype=pl.String)
    key = pl.concat_str([image, pl.col("pair"), pl.col("replicate").cast(pl.String)], separator=" ")
    chains, measurements = (
        frame.filter((pl.col("editor") == side.editor) & pl.col("pair").is_in(labels))
        .with_columns(key.alias("case"), image.alias("source"), pl.lit(name).alias("editor"))
        .drop_nulls("case")
        for frame in (side.given.chains, side.given.measurements)
    )
    return chains, measurements


def _require_alike(now: ScoredEditor, before: ScoredEditor, settings: AnalysisSettings) -> None:
    """Every metric of the score was measured in both runs, in one version and under one alignment."""
    asked = (*settings.quality, *((settings.semantic,) if settings.semantic else ()), *settings.adherence)
    for metric in asked:
        frames = [
            one.given.measurements.filter((pl.col("editor") == one.editor) & (pl.col("metric") == metric))
            for one in (now, before)
        ]
        there = [frame.height > 0 for frame in frames]
        if there[0] != there[1]:
            lacking = (now, before)[there.index(False)].run
            raise StudyError(
                f"{metric} was measured in one of the runs only; type: cbench measure {lacking} -m {metric}"
            )
        for column, what in (("fingerprint", "versions"), ("align", "alignments")):
            kinds = sorted(
                {str(kind) for frame in frames if column in frame.columns for kind in frame[column].unique()}
            )
            if len(kinds) > 1:
                raise StudyError(
                    f"{metric} was measured under two {what} ({', '.join(kinds)}); measure both runs alike"
                )
