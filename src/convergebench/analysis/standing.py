"""Which editors are ranked: those of one kind that delivered enough of the requested rounds.

Models that read instructions are ranked. Simulated editors, floors and networks that ignore instructions are references
beside the ranking. A run without any such model ranks its simulated editors instead, and without these its copying
ones.

Coverage is how much of the comparison an editor delivered: its cases, as a share of the most that any editor has, times
the share of their rounds that were neither refused nor failed. Rounds not done because of a spent budget or an
interrupted run do not lower it; such chains are compared over the rounds that all editors have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from convergebench.analysis.result import AnalysisInput
from convergebench.analysis.trajectories import Ints, Trajectories
from convergebench.studies.analysis_settings import AnalysisSettings

NOT_DELIVERED = ("refused", "failed")
"""Statuses of chains in which the editor returned no picture for a request."""


class Standing(NamedTuple):
    """Whether one editor is ranked, and why not."""

    editor: str
    reference: str
    """Why it is only a reference (`simulated`, `floor`, `ignores words`); empty for a model."""
    coverage: float
    delivered: float
    """Share of the requested rounds that were delivered."""
    ranked: bool


def standings(data: Trajectories, given: AnalysisInput, settings: AnalysisSettings, asked: Ints) -> list[Standing]:
    """Every editor; `asked` is the number of known rounds per chain, refused and failed ones included."""
    reference = {editor: _reference(editor, given, settings) for editor in data.editors}
    started = {editor: int((data.of(editor) & (asked > 0)).sum()) for editor in data.editors}
    most = max(started.values(), default=0)
    kind = _ranked_kind(list(reference.values()))
    found = []
    for editor in data.editors:
        rows = data.of(editor) & (asked > 0)
        delivered = float(np.minimum(data.reached, asked)[rows].sum() / asked[rows].sum()) if rows.any() else 0.0
        coverage = delivered * started[editor] / most if most else 0.0
        enough = coverage >= settings.coverage - 1e-12
        found.append(Standing(editor, reference[editor], coverage, delivered, enough and reference[editor] in kind))
    return found


def _reference(editor: str, given: AnalysisInput, settings: AnalysisSettings) -> str:
    if editor in given.uninstructed:
        return "ignores words"
    if editor in given.simulated:
        return "simulated"
    return "floor" if editor in settings.floors else ""


def _ranked_kind(kinds: list[str]) -> tuple[str, ...]:
    """Which of these kinds is ranked: the first that occurs."""
    return next((kind for kind in (("",), ("simulated",), ("ignores words", "floor")) if set(kind) & set(kinds)), ())
