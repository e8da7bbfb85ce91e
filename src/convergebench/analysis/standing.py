"""Who may have a rank: editors of one kind, each of which delivered enough of what it was asked for.

A rank is among rivals: models that read the words. Simulated editors only pretend, floors and networks that ignore
words only copy; they stand beside the ranking as references. Where a run has no rival at all, its simulated editors are
ranked among themselves, and where it has only editors that copy, these.

Coverage is how much of the comparison an editor delivered: its cases, as a share of the most that any editor
has, times the share of their rounds that were not refused and did not fail. What a spent budget or a person stopped was
not asked for; such chains are compared over the rounds that all have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from convergebench.analysis.result import AnalysisInput, AnalysisSettings
from convergebench.analysis.trajectories import Ints, Trajectories

BROKEN = ("refused", "failed")
"""Chain statuses after which the editor has given no picture although it was asked for one."""


class Standing(NamedTuple):
    """Where one editor stands before anything is compared."""

    editor: str
    reference: str
    """Why it is no rival (`simulated`, `floor`, `ignores words`); empty for a rival."""
    coverage: float
    delivered: float
    """Share of the rounds asked for that came back."""
    ranked: bool


def standings(data: Trajectories, given: AnalysisInput, settings: AnalysisSettings, asked: Ints) -> list[Standing]:
    """Every editor; `asked` is per chain how many of its rounds are known, those refused or failed included."""
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
