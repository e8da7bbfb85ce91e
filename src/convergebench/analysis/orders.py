"""Orders of editors, with ties, and how two of them differ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl

from convergebench.analysis.halflife import Level, cut, fit, followed
from convergebench.analysis.survival import restricted_mean
from convergebench.analysis.trajectories import Trajectories


class EditorOrder(NamedTuple):
    """Ranked editors with their places (equal ones share one) and what they were ranked by."""

    places: dict[str, int]
    scores: dict[str, float]
    cases: int | None = None

    @property
    def text(self) -> str:
        """`a, b = c, d`: best first, equal ones joined."""
        by_place: dict[int, list[str]] = {}
        for editor, place in sorted(self.places.items(), key=lambda item: item[1]):
            by_place.setdefault(place, []).append(editor)
        return ", ".join(" = ".join(editors) for editors in by_place.values())

    @property
    def leaders(self) -> set[str]:
        """The editors in first place."""
        return {editor for editor, place in self.places.items() if place == min(self.places.values())}


def ranked_order(frame: pl.DataFrame) -> EditorOrder:
    """The order of a frame with editor, rank (None without one), score and perhaps n_cases."""
    rows = frame.filter(pl.col("rank").is_not_null()).sort("rank", maintain_order=True).to_dicts()
    cases = [row["n_cases"] for row in rows if row.get("n_cases") is not None]
    return EditorOrder(
        {row["editor"]: row["rank"] for row in rows},
        {row["editor"]: row["score"] for row in rows},
        min(cases, default=None),
    )


def half_life_order(data: Trajectories, level: Level, editors: Iterable[str]) -> EditorOrder:
    """The order by the mean number of rounds until the level is passed, over the rounds that all were followed for."""
    rows = {editor: data.of(editor) & (level.cases.rounds > 0) for editor in editors}
    rows = {editor: mine for editor, mine in rows.items() if mine.any()}
    horizon = min((followed(data, level.cases, mine) for mine in rows.values()), default=0)
    if not horizon:
        return EditorOrder({}, {})
    cases = cut(level.cases, horizon)
    means = {
        editor: round(restricted_mean(fit(data, cases, mine, confidence=0.95))[0], 9) for editor, mine in rows.items()
    }
    places = {editor: 1 + sum(other > mean for other in means.values()) for editor, mean in means.items()}
    return EditorOrder(places, means, min(int(mine.sum()) for mine in rows.values()))


def compare_orders(reported: EditorOrder, order: EditorOrder) -> dict[str, object]:
    """How the pairs of editors that both orders rank differ: columns of the frame `sensitivity`.

    A pair is reversed if one editor is ahead in one order and behind in the other. If some pair is tied in only one of
    the two orders and none is reversed, `same_order` is None. Without two editors in common the result is empty.
    """
    both = [editor for editor in reported.places if editor in order.places]
    if len(both) < 2:
        return {}
    pairs = list(combinations(both, 2))
    ours, theirs = (np.array([np.sign(one.places[b] - one.places[a]) for a, b in pairs]) for one in (reported, order))
    reversed_ = ours * theirs < 0
    swaps = [abs(reported.scores[a] - reported.scores[b]) for (a, b), yes in zip(pairs, reversed_, strict=True) if yes]
    tied = bool(((ours == 0) != (theirs == 0)).any())
    scale = math.sqrt(np.count_nonzero(ours) * np.count_nonzero(theirs))
    return {
        "same_order": False if reversed_.any() else None if tied else True,
        "same_leader": bool(reported.leaders & order.leaders),
        "changes": int(reversed_.sum()),
        "largest_swap": max(swaps, default=None),
        "tau": float((ours * theirs).sum() / scale) if scale else None,  # Kendall's tau-b
    }
