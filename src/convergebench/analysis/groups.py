"""Groups of editors against each other: reasoning models against others, say, as a factor with two or more levels.

The score of a group is that of its editors' mean areas, on the cases that all editors of all groups have, so that
no group wins by its choice of cases. Test and interval are those of two editors (`paired`), over source images: they
hold for these editors, not for all that one could have chosen, which differ in more than the group's name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from convergebench.analysis.adherence import rounds_adhered
from convergebench.analysis.area import areas
from convergebench.analysis.common_cases import EditorComparison, make_comparison
from convergebench.analysis.decay import comparable
from convergebench.analysis.paired import compare_paired
from convergebench.analysis.parts import AnalysisContext
from convergebench.analysis.permutation import holm
from convergebench.analysis.score import make_score
from convergebench.analysis.trajectories import trajectories
from convergebench.analysis.wording import counted, span
from convergebench.studies.analysis_settings import AnalysisSettings

Groups = Mapping[str, Sequence[str]]
"""Name of a group → its editors."""


class GroupDifference(NamedTuple):
    """The better group's score minus the other's; the interval is NaN with too few images for the confidence."""

    better: str
    worse: str
    difference: float
    low: float
    high: float
    p: float
    """After Holm's correction over all pairs of groups."""
    n_sources: int
    n_editors: tuple[int, int]


def comparison_of(run: AnalysisContext, settings: AnalysisSettings) -> EditorComparison | None:
    """What any subset of a run's editors is compared with; None where nothing was measured."""
    chains = comparable(run.pairs, run.chains)
    kept = chains.select("editor", "case")
    given = replace(run, chains=chains, measurements=run.measurements.join(kept, on=["editor", "case"], how="semi"))
    data = trajectories(given)
    if not (data.horizon and data.values):
        return None
    adhered = rounds_adhered(data, given.measurements, settings, uninstructed=given.uninstructed)
    return make_comparison(data, make_score(areas(data), settings, adhered=adhered.measured), adhered)


def compare_groups(run: AnalysisContext, groups: Groups) -> list[GroupDifference]:
    """Every two groups, the better first; none where the editors have no case in common or there is no score."""
    settings, comparison = run.settings, comparison_of(run, run.settings)
    if comparison is None or not comparison.score.metrics:
        return []
    cases = comparison.common_cases([editor for editors in groups.values() for editor in editors])
    if not cases.horizon.size:
        return []
    means = {
        name: np.mean([comparison.features(cases, editor) for editor in editors], axis=0)
        for name, editors in groups.items()
    }
    pairs = list(combinations(groups, 2))
    found = [
        compare_paired(
            means[one],
            means[other],
            comparison.score.value,
            confidence=settings.confidence,
            exact_up_to=settings.exact_sources,
            permutations=settings.permutations,
            seed=settings.seed,
        )
        for one, other in pairs
    ]
    rows = []
    for pair, one, p in zip(pairs, found, holm([one.p for one in found]), strict=True):
        ahead = one.difference >= 0
        better, worse = pair if ahead else pair[::-1]
        low, high = (one.low, one.high) if ahead else (-one.high, -one.low)
        sizes = (len(groups[better]), len(groups[worse]))
        rows.append(GroupDifference(better, worse, abs(one.difference), low, high, p, one.n_sources, sizes))
    return rows


def group_sentences(differences: Sequence[GroupDifference], settings: AnalysisSettings) -> list[str]:
    """A sentence per pair of groups, and what its interval is about."""
    said = []
    for one in differences:
        ends = "" if np.isnan(one.low) else f"{100 * settings.confidence:.3g}%: {span(one.low, one.high)}; "
        p = "p < 0.001" if one.p < 0.001 else f"p = {one.p:.2g}"
        sure = "" if one.p < 1 - settings.confidence else ": not significant"
        first, second = (counted(count, "editor") for count in one.n_editors)
        said.append(
            f"{one.better} ({first}) scores {one.difference:.1f} more than {one.worse} ({second}) "
            f"({ends}{p}; {counted(one.n_sources, 'image')}){sure}."
        )
    if said:
        said.append("These groups are these editors: they may differ in more than what the groups are named after.")
    return said
