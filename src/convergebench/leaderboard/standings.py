"""The rankings of a board: by the same analysis as a report, on the cases that all entries have, for every filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from convergebench.analysis.adherence import rounds_adhered
from convergebench.analysis.area import areas
from convergebench.analysis.common_cases import make_comparison
from convergebench.analysis.compare import ShownBeside, common_horizon, features_of, ranking
from convergebench.analysis.findings import analyse
from convergebench.analysis.halflife import Level, cut, find_levels, fit, followed, usable
from convergebench.analysis.places import place_table
from convergebench.analysis.result import Analysis, AnalysisInput
from convergebench.analysis.score import make_score
from convergebench.analysis.standing import standings
from convergebench.analysis.trajectories import Trajectories, trajectories
from convergebench.leaderboard.boards import Board
from convergebench.leaderboard.entries import LeaderboardEntry, frames_of
from convergebench.metrics import load_metric
from convergebench.metrics.base import MetricFacts
from convergebench.studies.analysis_settings import AnalysisSettings
from convergebench.studies.base import study_of

ALL = "all"
RESOLUTIONS = ((512, "up to 512 px"), (1024, "513 to 1024 px"), (2048, "1025 to 2048 px"), (10**9, "over 2048 px"))
"""Longest side of the source image, and how the group is called."""


@dataclass(frozen=True)
class Filter:
    """A part of the cases: `all`, `category:NAME` or `resolution:NAME`."""

    name: str
    cases: frozenset[str]

    @property
    def words(self) -> str:
        """As a reader chooses it."""
        kind, _, value = self.name.partition(":")
        return "all cases" if self.name == ALL else f"{kind}: {value.replace('_', ' ')}"


@dataclass(frozen=True)
class Standings:
    """The results of one set of entries: models, or simulated editors."""

    board: Board
    entries: Sequence[LeaderboardEntry]
    settings: AnalysisSettings

    @cached_property
    def given(self) -> AnalysisInput:
        """The frames of all entries together."""
        return board_input(self.board, self.entries)

    @cached_property
    def analysis(self) -> Analysis:
        """Everything that a report would show, on all cases."""
        return analyse(self.given, self.settings)

    @cached_property
    def filters(self) -> list[Filter]:
        """`all`, then the categories and resolutions that have cases, if there are several."""
        return board_filters(self.board)

    @cached_property
    def rankings(self) -> dict[str, pl.DataFrame]:
        """Name of a filter → the frame `ranking`; its `n_cases` and `n_sources` say how much it rests on."""
        found = {}
        for chosen in self.filters:
            kept = pl.col("case").is_in(list(chosen.cases))
            chains, measured = self.given.chains.filter(kept), self.given.measurements.filter(kept)
            found[chosen.name] = rank_with_intervals(
                replace(self.given, measurements=measured, chains=chains), self.settings
            )
        return found

    def alone(self, entry: LeaderboardEntry) -> dict[str, object]:
        """The row of one entry without the others, on the board's cases: for its history."""
        named = entry if entry.label else LeaderboardEntry(entry.name, entry.loaded, entry.name)
        found = rank_with_intervals(board_input(self.board, [named]), self.settings)
        return found.row(0, named=True) if found.height else {}


def board_settings(board: Board) -> AnalysisSettings:
    """The package's own constants, whatever a submitter's study file says, with the metrics that the board counts."""
    own, counted = AnalysisSettings(), board.rules.metrics
    return replace(
        own,
        quality=tuple(name for name in own.quality if name in counted),
        semantic=own.semantic if own.semantic in counted else "",
    )


def board_input(board: Board, entries: Sequence[LeaderboardEntry]) -> AnalysisInput:
    """The frames of these entries on the board's cases, with facts from this package and not from a bundle."""
    facts: dict[str, MetricFacts] = {name: load_metric(name).facts for name in board.rules.metrics}
    parts = [frames_of(one, board.cases_of[one.loaded.bundle.sha256], board.rules.rounds) for one in entries]
    kept = pl.col("metric").str.replace(r"-lag\d+$", "").is_in(list(facts))
    return AnalysisInput(
        measurements=pl.concat([part[0] for part in parts]).filter(kept),
        chains=pl.concat([part[1] for part in parts]),
        facts=facts,
        simulated=frozenset(one.label for one in entries if one.simulated),
        deterministic=frozenset(
            one.label for one in entries if one.loaded.bundle.manifest.editors[one.name].get("deterministic")
        ),
        uninstructed=frozenset(one.label for one in entries if not one.facts["instructed"]),
        unit=study_of(board.rules.study).unit,
    )


def rank_with_intervals(given: AnalysisInput, settings: AnalysisSettings) -> pl.DataFrame:
    """The ranking as `analyse` computes it, without the curves, fits and tests of a whole report."""
    data = trajectories(given)
    levels = find_levels(data, settings)
    headline = next((one for one in levels if (one.metric, one.name) == (settings.headline, settings.level)), None)
    in_use = usable(data, headline)
    adhered = rounds_adhered(data, given.measurements, settings, uninstructed=given.uninstructed)
    score = make_score(areas(data), settings, adhered=adhered.measured)
    comparison = make_comparison(data, score, adhered)
    standing = standings(data, given, settings, comparison.known)
    common = comparison.common_cases([one.editor for one in standing if one.ranked])
    places = place_table(features_of(comparison, common), score, settings)
    undecided = pl.Series("verdict", ["unknown"] * data.chains.height, dtype=pl.String)
    beside = ShownBeside(headline, in_use, undecided, places, given.simulated)
    ranked = ranking(comparison, standing, common, beside, settings)
    horizon = common_horizon(comparison, standing, headline)
    kept = [_survival(data, headline, editor, horizon, settings.confidence) for editor in ranked["editor"].to_list()]
    return ranked.with_columns(pl.Series(name, [one[name] for one in kept], dtype=pl.Float64) for name in SURVIVAL)


SURVIVAL = ("survival", "survival_low", "survival_high")
"""Share of cases that are still above the headline level after the last round that all ranked entries have."""


def _survival(
    data: Trajectories, level: Level | None, editor: str, horizon: int | None, confidence: float
) -> dict[str, float | None]:
    blank: dict[str, float | None] = dict.fromkeys(SURVIVAL)
    if level is None:
        return blank
    rows = data.of(editor) & (level.cases.rounds > 0)
    seen = followed(data, level.cases, rows)
    if not rows.any() or not seen:
        return blank
    curve = fit(data, cut(level.cases, seen if horizon is None else min(seen, horizon)), rows, confidence=confidence)
    ends = (float(part[-1]) for part in (curve.survival, curve.low, curve.high))
    return {name: None if np.isnan(value) else value for name, value in zip(SURVIVAL, ends, strict=True)}


def board_filters(board: Board) -> list[Filter]:
    """The filters of a board; one that would hold every case is left out."""
    every = frozenset(board.rules.cases.values())
    found = [Filter(ALL, every)]
    groups: dict[str, set[str]] = {}
    for case, (category, side) in _case_facts(board).items():
        groups.setdefault(f"category:{category}", set()).add(case)
        groups.setdefault(f"resolution:{_resolution(side)}", set()).add(case)
    order = [name for _, name in RESOLUTIONS]
    names = sorted(groups, key=lambda one: (one.split(":")[0], _place(one.partition(":")[2], order), one))
    return found + [Filter(name, frozenset(groups[name])) for name in names if len(groups[name]) < len(every)]


def _place(name: str, order: list[str]) -> int:
    return order.index(name) if name in order else -1


def _resolution(side: int) -> str:
    return next(name for most, name in RESOLUTIONS if side <= most)


def _case_facts(board: Board) -> dict[str, tuple[str, int]]:
    """Case of the board → its category and the longest side of its source, from the first entry's tables."""
    if not board.entries:
        return {}
    bundle = board.entries[0].loaded.bundle
    names, images = board.cases_of[bundle.sha256], {row["id"]: row for row in bundle.tables["images"]}
    return {
        names[row["id"]]: (row["category"], max(images[row["image"]]["width"], images[row["image"]]["height"]))
        for row in bundle.tables["cases"]
        if row["id"] in names
    }
