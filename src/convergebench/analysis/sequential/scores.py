"""The score of every image under two editors, or what is certain of it while rounds are still to be run.

The score of an image is the headline score over its cases alone, by the same rules (`common_cases`): what an editor
refused or failed to deliver counts 0. A round that has not been run yet adds something between nothing and everything,
so the score lies between two bounds; these are facts about the definition, not predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from convergebench.analysis.common_cases import EditorComparison
from convergebench.analysis.groups import comparison_of
from convergebench.analysis.parts import AnalysisContext
from convergebench.analysis.score import Score
from convergebench.analysis.sequential.question import UntilQuestion
from convergebench.analysis.standing import NOT_DELIVERED
from convergebench.analysis.trajectories import Floats
from convergebench.studies.analysis_settings import AnalysisSettings

OVER = (*NOT_DELIVERED, "ended")
"""Statuses after which a chain has no further rounds, however many were asked for."""


class ImageDifference(NamedTuple):
    """One minus other on one image, in points: between `low` and `high`, which are equal once it is known."""

    image: str
    low: float
    high: float
    whole: bool
    """Whether no round is left to run."""
    missing: bool = False
    """Whether it is whole and still has no value."""


class Scores:
    """Scores of images under two editors at a time, as far as a run has come."""

    def __init__(self, run: AnalysisContext, question: UntilQuestion) -> None:
        self._question = question
        self._comparison = comparison_of(run, number_settings(run.settings, question.number))
        if self._comparison is not None:
            data = self._comparison.data
            self._status = data.chains["status"].to_list()
            self._planned = np.maximum(data.chains["planned"].fill_null(0).to_numpy(), data.reached)

    @property
    def score(self) -> Score:
        """What the score is made of; without a metric where nothing has been measured."""
        return Score((), None) if self._comparison is None else self._comparison.score

    def differences(self, one: str, other: str) -> list[ImageDifference]:
        """The images in their order, up to the first on which one of the two has not begun all cases."""
        found: list[ImageDifference] = []
        for image in self._question.order[: self._question.most]:
            difference = self._of_image(image, (one, other))
            if difference is None:
                break
            found.append(difference)
        return found

    def _of_image(self, image: str, pair: Sequence[str]) -> ImageDifference | None:
        comparison, cases = self._comparison, self._question.cases.get(image, ())
        if comparison is None or not comparison.score.metrics:
            return None
        if any((editor, case) not in comparison.place for editor in pair for case in cases):
            return None
        found = [ends for case in cases if (ends := self._of_case(comparison, case, pair)) is not None]
        whole = all(self._is_whole(comparison.place[editor, case]) for editor in pair for case in cases)
        if not found:
            return ImageDifference(image, -100.0, 100.0, whole, missing=whole)
        # editors × ends × metrics, the mean over the image's cases
        middle = np.mean(found, axis=0)
        totals = np.concatenate([middle, np.ones((*middle.shape[:-1], 1))], axis=-1)
        (one_low, one_high), (other_low, other_high) = comparison.score.value(totals).tolist()
        if whole:
            return ImageDifference(image, one_low - other_low, one_low - other_low, whole)
        return ImageDifference(image, one_low - other_high, one_high - other_low, whole)

    def _of_case(self, comparison: EditorComparison, case: str, pair: Sequence[str]) -> Floats | None:
        """Editors × (low, high) × metrics: the areas of a case; None for one that is over and cannot be compared."""
        rows = [comparison.place[editor, case] for editor in pair]
        over = all(map(self._is_whole, rows))
        asked = max([self._question.rounds, *self._planned[rows].tolist(), 1])
        ends = [self._known(comparison, row, asked) for row in rows]
        rounds = min(ends) if over else asked
        if not rounds:
            return None
        return np.array(
            [self._areas(comparison, row, min(end, rounds), rounds) for row, end in zip(rows, ends, strict=True)]
        )

    def _known(self, comparison: EditorComparison, row: int, asked: int) -> int:
        """Rounds whose outcome is known; after a refusal or a failure all that were asked for: no picture."""
        measured = int(comparison.measured[row])
        broken = self._status[row] in NOT_DELIVERED and measured == int(comparison.data.reached[row])
        return asked if broken else min(measured, asked)

    def _areas(self, comparison: EditorComparison, row: int, known: int, rounds: int) -> list[Floats]:
        """Lowest and highest areas of one chain over this many rounds, of which the first are known."""
        measured = min(int(comparison.measured[row]), rounds)
        yes = np.nan_to_num(comparison.adhered.both[row, 1 : measured + 1], nan=1.0)
        low, high = [], []
        for kept in comparison.kept:
            strips = (kept[row, 1 : measured + 1] + kept[row, :measured]) / 2
            sure = float(np.where(yes > 0, strips * yes, 0.0).sum())
            left = rounds - known
            more = (min(1.0, float(kept[row, measured])) + 1) / 2 + left - 1 if left else 0.0
            low.append(sure / rounds)
            high.append((sure + more) / rounds)
        return [np.array(low), np.array(high)]

    def _is_whole(self, row: int) -> bool:
        asked = max(self._question.rounds, int(self._planned[row]))
        assert self._comparison is not None
        done = int(self._comparison.data.reached[row]) >= asked > 0
        return self._status[row] in OVER or done


def number_settings(settings: AnalysisSettings, number: str) -> AnalysisSettings:
    """The settings under which the score is this number: the study's own score, or one metric's area."""
    return settings if number == "score" else replace(settings, quality=(number,), semantic=None)
