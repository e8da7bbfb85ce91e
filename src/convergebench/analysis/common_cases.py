"""What is compared: editors on the cases that they have in common, over the rounds that are known for all of them.

Each chain has three counts of rounds. *Reached*: done by the editor. *Measured*: of these, the first ones for which
every metric of the score has a value or the picture is lost. *Known*: measured, or, where the editor refused or failed,
all that were planned, since the outcome of the others is known: no picture.

A case is compared over its horizon, the fewest known rounds of the compared editors; without any it is left out. Its
area is the mean retention over these rounds (by trapezoids, starting at the untouched image). A round that was not
delivered, not done or not undone counts 0, and so does a picture that is lost or worse than unrelated. So an editor
gains nothing by ruining a picture, refusing, failing or doing nothing, in any round. *Closeness* is the plain area,
over the rounds that all of the editors delivered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from convergebench.analysis.adherence import RoundAdherence
from convergebench.analysis.area import area_until
from convergebench.analysis.bootstrap import by_source
from convergebench.analysis.retention import retained
from convergebench.analysis.score import Score
from convergebench.analysis.standing import NOT_DELIVERED
from convergebench.analysis.trajectories import Floats, Ints, Mask, Trajectories


class CommonCases(NamedTuple):
    """Editors on their common cases: chains (editors × cases), and per case its horizon and its source."""

    editors: tuple[str, ...]
    rows: Ints
    horizon: Ints
    source: Ints

    def of(self, editor: str) -> Ints:
        """The chains of one editor, in the order of the cases."""
        return np.asarray(self.rows[self.editors.index(editor)])


@dataclass(frozen=True, slots=True)
class EditorComparison:
    """The data behind a comparison of any subset of the editors."""

    data: Trajectories
    score: Score
    adhered: RoundAdherence
    kept: tuple[Floats, ...]
    """Per metric of the score: retention, at least 0, chains × rounds."""
    measured: Ints
    known: Ints
    place: dict[tuple[str, str], int]
    """(editor, case) → chain."""

    def common_cases(self, editors: Sequence[str], within: CommonCases | None = None) -> CommonCases:
        """These editors on the cases that all of them have; `within` limits the cases and their horizons."""
        if not editors:
            return CommonCases((), *(np.zeros(shape, dtype=np.int64) for shape in ((0, 0), 0, 0)))
        cases = list(dict.fromkeys(self.data.column("case")))
        limit = dict.fromkeys(cases, np.iinfo(np.int64).max)
        if within is not None:
            names = self.data.chains["case"].gather(within.rows[0]).to_list()
            limit = dict(zip(names, within.horizon.tolist(), strict=True))
        columns, ends = [], []
        for case in limit:
            rows = [self.place.get((editor, case), -1) for editor in editors]
            end = min([limit[case], *(int(self.known[row]) if row >= 0 else 0 for row in rows)])
            if end > 0:
                columns.append(rows)
                ends.append(end)
        found = np.array(columns, dtype=np.int64).reshape(-1, len(editors)).T
        return CommonCases(tuple(editors), found, np.array(ends, dtype=np.int64), self.data.source[found[0]])

    def features(self, cases: CommonCases, editor: str) -> Floats:
        """Sources × (area per metric, counting only what was delivered, done and undone; number of cases)."""
        rows = cases.of(editor)
        counted = self._yes(cases, editor, self.adhered.both)[:, 1:]
        areas = []
        for kept in self.kept:
            strips = (kept[rows, 1:] + kept[rows, :-1]) / 2
            areas.append(np.where(counted > 0, strips * counted, 0.0).sum(axis=1) / cases.horizon)
        return by_source(np.column_stack([*areas, np.ones(rows.size)]), cases.source)[0]

    def closeness(self, cases: CommonCases, editor: str) -> Floats:
        """As `features`, without adherence, over the rounds that every editor of the cases delivered."""
        end = np.minimum(self.measured[cases.rows].min(axis=0, initial=np.iinfo(np.int64).max), cases.horizon)
        there = end > 0
        rows = cases.of(editor)[there]
        areas = [area_until(kept[rows], end[there]) for kept in self.kept]
        return by_source(np.column_stack([*areas, np.ones(rows.size)]), cases.source[there])[0]

    def adherence(self, cases: CommonCases, editor: str) -> Floats:
        """Per case: the share of its rounds that were delivered, done and undone; unknown counts as yes."""
        return np.asarray(self._yes(cases, editor, self.adhered.both).sum(axis=1) / cases.horizon)

    def done(self, cases: CommonCases, editor: str) -> Floats:
        """Per case: the share of its rounds in which the edit happened."""
        return np.asarray(self._yes(cases, editor, self.adhered.done).sum(axis=1) / cases.horizon)

    def undone(self, cases: CommonCases, editor: str) -> float:
        """Of the rounds in which the edit happened, the share in which it was undone; NaN without any."""
        rows = cases.of(editor)
        inside = self._inside(rows, np.minimum(self.measured[rows], cases.horizon))
        readable = inside & (self.adhered.done[rows] == 1) & ~np.isnan(self.adhered.undone[rows])
        return float(self.adhered.undone[rows][readable].mean()) if readable.any() else float("nan")

    def _yes(self, cases: CommonCases, editor: str, yes: Floats) -> Floats:
        """Cases × rounds: 1 for a round that counts, 0 for one that does not or was not delivered."""
        rows = cases.of(editor)
        inside = self._inside(rows, np.minimum(self.measured[rows], cases.horizon))
        # unknown counts as done: the editor causes neither a missing judgement nor an unsuitable source
        return np.where(inside, np.nan_to_num(yes[rows], nan=1.0), 0.0)

    def _inside(self, rows: Ints, last: Ints) -> Mask:
        rounds = np.arange(self.data.horizon + 1)
        return np.asarray((rounds[None, :] >= 1) & (rounds[None, :] <= last[:, None]))


def make_comparison(data: Trajectories, score: Score, adhered: RoundAdherence) -> EditorComparison:
    """How many rounds of every chain are measured and known."""
    gaps = np.zeros((data.chains.height, data.horizon + 1), dtype=np.bool_)
    for name in score.metrics:
        gaps |= np.isnan(data.values[name]) & ~data.lost[name]
    gaps[:, 0] = False
    first_gap = np.where(gaps.any(axis=1), gaps.argmax(axis=1), data.horizon + 1)
    measured = np.minimum(data.reached, first_gap - 1) if score.metrics else np.zeros_like(data.reached)
    planned = np.maximum(data.chains["planned"].fill_null(0).to_numpy(), data.reached)
    broken = data.chains["status"].is_in(NOT_DELIVERED).to_numpy() & (measured == data.reached)
    names = zip(data.column("editor"), data.column("case"), strict=True)
    return EditorComparison(
        data=data,
        score=score,
        adhered=adhered,
        kept=tuple(np.maximum(retained(data, name), 0.0) for name in score.metrics),
        measured=measured,
        known=np.where(broken & bool(score.metrics), planned, measured).astype(np.int64),
        place={name: row for row, name in enumerate(names)},
    )
