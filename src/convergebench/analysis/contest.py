"""What is compared: editors on the cases that they have in common, over the rounds that are known of all of them.

Per chain three numbers of rounds matter. *Reached*: done by the editor. *Measured*: of these, the first ones for which
every metric of the score has a value or the picture is lost. *Known*: measured, or, where the editor refused or failed,
all that were planned, since what became of them is known: there is no picture.

A case is compared over its horizon, the fewest known rounds of the editors compared; without any it is left out. Its
area is the mean over these rounds of what is left (by trapezoids from the untouched image on), where a round that was
not delivered, not done or not undone counts 0, and so does a picture that is lost or worse than unrelated. So nothing
is gained by wrecking a picture, by refusing, by failing or by doing nothing, in any round. *Closeness* is the plain
area, over the rounds that all of the editors delivered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from convergebench.analysis.adherence import Adhered
from convergebench.analysis.area import area_until
from convergebench.analysis.bootstrap import by_source
from convergebench.analysis.retention import retained
from convergebench.analysis.score import Score
from convergebench.analysis.standing import BROKEN
from convergebench.analysis.trajectories import Floats, Ints, Mask, Trajectories


class Bout(NamedTuple):
    """Editors on their common cases: chains (editors × cases), and per case its horizon and its source."""

    editors: tuple[str, ...]
    rows: Ints
    horizon: Ints
    source: Ints

    def of(self, editor: str) -> Ints:
        """The chains of one editor, in the order of the cases."""
        return np.asarray(self.rows[self.editors.index(editor)])


@dataclass(frozen=True, slots=True)
class Contest:
    """Everything that a comparison of any of the editors needs."""

    data: Trajectories
    score: Score
    adhered: Adhered
    kept: tuple[Floats, ...]
    """Per metric of the score: the share left, at least 0, chains × rounds."""
    measured: Ints
    known: Ints
    place: dict[tuple[str, str], int]
    """(editor, case) → chain."""

    def bout(self, editors: Sequence[str], within: Bout | None = None) -> Bout:
        """These editors on the cases of all of them; `within`: on the cases of another bout, and no farther."""
        if not editors:
            return Bout((), *(np.zeros(shape, dtype=np.int64) for shape in ((0, 0), 0, 0)))
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
        return Bout(tuple(editors), found, np.array(ends, dtype=np.int64), self.data.source[found[0]])

    def features(self, bout: Bout, editor: str) -> Floats:
        """Sources × (area per metric, counting only what was delivered, done and undone; number of cases)."""
        rows = bout.of(editor)
        counted = self._yes(bout, editor, self.adhered.both)[:, 1:]
        areas = []
        for kept in self.kept:
            strips = (kept[rows, 1:] + kept[rows, :-1]) / 2
            areas.append(np.where(counted > 0, strips * counted, 0.0).sum(axis=1) / bout.horizon)
        return by_source(np.column_stack([*areas, np.ones(rows.size)]), bout.source)[0]

    def closeness(self, bout: Bout, editor: str) -> Floats:
        """The same without adherence, over the rounds that every editor of the bout delivered."""
        end = np.minimum(self.measured[bout.rows].min(axis=0, initial=np.iinfo(np.int64).max), bout.horizon)
        there = end > 0
        rows = bout.of(editor)[there]
        areas = [area_until(kept[rows], end[there]) for kept in self.kept]
        return by_source(np.column_stack([*areas, np.ones(rows.size)]), bout.source[there])[0]

    def adherence(self, bout: Bout, editor: str) -> Floats:
        """Per case: the share of its rounds that were delivered and done as asked, as far as that can be told."""
        return np.asarray(self._yes(bout, editor, self.adhered.both).sum(axis=1) / bout.horizon)

    def done(self, bout: Bout, editor: str) -> Floats:
        """Per case: the share of its rounds in which the edit happened."""
        return np.asarray(self._yes(bout, editor, self.adhered.done).sum(axis=1) / bout.horizon)

    def undone(self, bout: Bout, editor: str) -> float:
        """Of the rounds in which the edit happened, the share in which it was taken back; NaN without any."""
        rows = bout.of(editor)
        inside = self._inside(rows, np.minimum(self.measured[rows], bout.horizon))
        told = inside & (self.adhered.done[rows] == 1) & ~np.isnan(self.adhered.undone[rows])
        return float(self.adhered.undone[rows][told].mean()) if told.any() else float("nan")

    def _yes(self, bout: Bout, editor: str, yes: Floats) -> Floats:
        """Cases × rounds: 1 for a round that counts, 0 for one that does not or was not delivered."""
        rows = bout.of(editor)
        inside = self._inside(rows, np.minimum(self.measured[rows], bout.horizon))
        # what nobody can tell is taken as done: neither a judge's silence nor the source is the editor's doing
        return np.where(inside, np.nan_to_num(yes[rows], nan=1.0), 0.0)

    def _inside(self, rows: Ints, last: Ints) -> Mask:
        rounds = np.arange(self.data.horizon + 1)
        return np.asarray((rounds[None, :] >= 1) & (rounds[None, :] <= last[:, None]))


def make_contest(data: Trajectories, score: Score, adhered: Adhered) -> Contest:
    """How many rounds of every chain are measured and known."""
    gaps = np.zeros((data.chains.height, data.horizon + 1), dtype=np.bool_)
    for name in score.metrics:
        gaps |= np.isnan(data.values[name]) & ~data.lost[name]
    gaps[:, 0] = False
    first_gap = np.where(gaps.any(axis=1), gaps.argmax(axis=1), data.horizon + 1)
    measured = np.minimum(data.reached, first_gap - 1) if score.metrics else np.zeros_like(data.reached)
    planned = np.maximum(data.chains["planned"].fill_null(0).to_numpy(), data.reached)
    broken = data.chains["status"].is_in(BROKEN).to_numpy() & (measured == data.reached)
    names = zip(data.column("editor"), data.column("case"), strict=True)
    return Contest(
        data=data,
        score=score,
        adhered=adhered,
        kept=tuple(np.maximum(retained(data, name), 0.0) for name in score.metrics),
        measured=measured,
        known=np.where(broken & bool(score.metrics), planned, measured).astype(np.int64),
        place={name: row for row, name in enumerate(names)},
    )
