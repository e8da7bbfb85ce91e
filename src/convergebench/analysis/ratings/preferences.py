"""Which of two pictures people prefer: strengths of the methods, and how often each won against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from scipy.special import expit

from convergebench.analysis.ratings.bradley_terry import BradleyTerryFit, core, fit, influences, reach
from convergebench.analysis.ratings.means import contrast, corrected
from convergebench.analysis.ratings.result import frame
from convergebench.analysis.ratings.scales import PREFERENCE
from convergebench.analysis.ratings.two_way import TwoWayEstimate, cells, estimate
from convergebench.analysis.trajectories import Floats


@dataclass(frozen=True, slots=True)
class PreferenceModel:
    """How often each method won against each other, and the model fitted to the methods in `placed`."""

    editors: list[str]
    wins: Floats
    ties: Floats
    placed: list[int]
    """Places in `editors` of the methods that have a strength."""
    fitted: BradleyTerryFit
    parts: Floats
    """What each cell adds to each strength: placed methods × raters × pictures."""

    def strength(self, one: int, other: int | None, confidence: float) -> TwoWayEstimate:
        """The strength of a placed method, or the difference of two, by its place in `editors`."""
        signs = np.array([float(place == one) - float(place == other) for place in self.placed])
        return estimate(float(signs @ self.fitted.strengths), np.tensordot(signs, self.parts, 1), confidence)


def preference_model(pairs: pl.DataFrame) -> PreferenceModel | None:
    """The model of these first showings; None without any."""
    if not pairs.height:
        return None
    editors = sorted({*pairs["left"], *pairs["right"]})
    place = {editor: number for number, editor in enumerate(editors)}
    left, right = (np.array([place[name] for name in pairs[side]], dtype=np.int64) for side in ("left", "right"))
    values = pairs["value"].to_numpy().astype(np.float64)
    wins, ties = np.zeros((len(editors),) * 2), np.zeros((len(editors),) * 2)
    for one, other, won in ((left, right, values), (right, left, 1 - values)):
        np.add.at(wins, (one, other), won)
        np.add.at(ties, (one, other), won == 0.5)
    placed = core(wins)
    fitted = fit(wins[np.ix_(placed, placed)])
    inside = np.isin(left, placed) & np.isin(right, placed)
    among = pairs.filter(pl.Series(inside))
    one, other = (np.searchsorted(placed, side[inside]) for side in (left, right))
    each = influences(fitted, one, other, values[inside])
    raters, sources = among["rater"].to_list(), among["source"].to_list()
    parts = np.stack([cells(row, raters, sources, total=True) for row in each])
    return PreferenceModel(editors, wins, ties, placed.tolist(), fitted, parts)


def preference_table(model: PreferenceModel | None, confidence: float) -> pl.DataFrame:
    """The frame `preferences`, the strongest first."""
    if model is None:
        return frame("preferences", [])
    sides = _sides(model)
    rows: list[dict[str, Any]] = []
    for number, editor in enumerate(model.editors):
        found = (
            model.strength(number, None, confidence) if sides[number] == "placed" and len(model.placed) > 1 else None
        )
        won, lost = float(model.wins[number].sum()), float(model.wins[:, number].sum())
        rows.append(
            {
                **{"editor": editor, "strength": found.value if found else None},
                **{"low": found.low if found else None, "high": found.high if found else None},
                **{"wins": won, "losses": lost, "ties": round(model.ties[number].sum()), "n": round(won + lost)},
                **{"note": _note(sides[number], won, lost, alone=len(model.placed) == 1), "_side": sides[number]},
            }
        )
    return frame("preferences", _placed(rows))


def pair_table(model: PreferenceModel | None) -> pl.DataFrame:
    """The frame `preference_pairs`: both directions of every pair that was shown; `expected` is the model's chance."""
    rows = []
    for one, other in [] if model is None else _every(model.editors):
        assert model is not None
        n = model.wins[one, other] + model.wins[other, one]
        inside = one in model.placed and other in model.placed
        strengths = (
            [float(model.fitted.strengths[model.placed.index(number)]) for number in (one, other)] if inside else []
        )
        if n:
            rows.append(
                {
                    **{
                        "editor": model.editors[one],
                        "other": model.editors[other],
                        "wins": float(model.wins[one, other]),
                    },
                    **{"losses": float(model.wins[other, one]), "ties": round(model.ties[one, other]), "n": round(n)},
                    "expected": float(expit(strengths[0] - strengths[1])) if inside else None,
                }
            )
    return frame("preference_pairs", rows)


def preference_contrasts(model: PreferenceModel | None, confidence: float) -> list[dict[str, Any]]:
    """Rows of `rating_contrasts`: differences of strengths."""
    if model is None:
        return []
    pairs = combinations(model.placed, 2)
    named = [(model.editors[one], model.editors[other], model.strength(one, other, confidence)) for one, other in pairs]
    return corrected([contrast(PREFERENCE, *row) for row in named], confidence)


def _every(editors: Sequence[str]) -> list[tuple[int, int]]:
    return [(one, other) for one in range(len(editors)) for other in range(len(editors)) if one != other]


def _sides(model: PreferenceModel) -> list[str]:
    """Of each method: `placed`, or where it stands beside those that are (`above`, `below`, `apart`)."""
    over = reach(model.wins)
    some = model.placed[0]
    found = []
    for number in range(len(model.editors)):
        if number in model.placed:
            found.append("placed")
        else:
            found.append("above" if over[number, some] else "below" if over[some, number] else "apart")
    return found


def _note(side: str, won: float, lost: float, *, alone: bool) -> str:
    if won + lost and not lost:
        return "never lost, so its strength has no finite estimate"
    if won + lost and not won:
        return "never won, so its strength has no finite estimate"
    words = {
        "above": "never lost to the methods that have a strength, so it has no finite one",
        "below": "never won against the methods that have a strength, so it has no finite one",
        "apart": "no comparisons link it with the methods that have a strength",
        "placed": "every pair was won by one side alone, so no strength is finite" if alone else "",
    }
    return words[side]


def _placed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With ranks: methods above the placed ones share the first, those below the last; others have none."""
    order = {"above": 0, "placed": 1, "below": 2}

    def worth(row: dict[str, Any]) -> tuple[int, float]:
        return order[row["_side"]], -round(row["strength"] or 0.0, 9)

    ranked = [worth(row) for row in rows if row["_side"] in order]
    for row in rows:
        row["rank"] = 1 + sum(other < worth(row) for other in ranked) if row["_side"] in order else None
    return sorted(rows, key=lambda row: (row["rank"] is None, row["rank"] or 0, row["editor"]))
