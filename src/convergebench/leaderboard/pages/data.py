"""The numbers of the site for programs: one JSON file and one CSV file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

from convergebench.analysis import ANALYSIS_VERSION
from convergebench.leaderboard.checking import CheckedBundle
from convergebench.leaderboard.pages.rows import entry_facts, ranking_rows
from convergebench.leaderboard.pages.view import BoardView
from convergebench.leaderboard.settings import BoardSettings
from convergebench.report.chains import plain
from convergebench.report.output import RenderedFile
from convergebench.sheets import as_csv

NUMBERS = (
    *("rank", "rank_low", "rank_high", "score", "low", "high", "adherence", "done", "undone", "closeness", "quality"),
    *("semantic", "half_life", "half_life_median", "half_life_low", "half_life_high", "followed", "survival"),
    *(
        "survival_low",
        "survival_high",
        "coverage",
        "n_cases",
        "n_sources",
        "n_refused",
        "n_failed",
        "n_missing",
        "n_lost",
    ),
)
FACTS = (
    "name",
    "simulated",
    "dollars",
    "seconds",
    "submitter",
    "key",
    "holder",
    "date",
    "package",
    "fingerprint",
    "bundle",
    "head",
)
COLUMNS = ("study", "suite", "filter", *FACTS[:2], *NUMBERS, *FACTS[2:])


def data_files(
    views: Sequence[BoardView], rejected: Sequence[CheckedBundle], settings: BoardSettings
) -> Iterator[RenderedFile]:
    """`data/leaderboard.json` with everything, `data/leaderboard.csv` with a row per filter and entry."""
    rows = [row for view in views for row in _rows(view, settings)]
    document = {
        "title": settings.title,
        "convergebench": version("convergebench"),
        "analysis_version": ANALYSIS_VERSION,
        "boards": [_board(view, settings) for view in views],
        "rows": rows,
        "rejected": [{"file": one.name, "reasons": list(one.faults)} for one in rejected],
    }
    text = json.dumps(plain(document), ensure_ascii=False, indent=1, allow_nan=False)
    yield "data/leaderboard.json", text + "\n"
    yield "data/leaderboard.csv", as_csv(COLUMNS, rows)


def _rows(view: BoardView, settings: BoardSettings) -> Iterator[dict[str, Any]]:
    for standings in (view.models, view.simulated):
        if standings is None:
            continue
        entries = {one.label: one for one in standings.entries}
        for chosen in standings.filters:
            for row in ranking_rows(standings.rankings[chosen.name], entries, settings):
                place = {"study": view.board.rules.study, "suite": view.board.rules.suite, "filter": chosen.name}
                yield {**place, **{name: row[name] for name in (*FACTS[:2], *NUMBERS, *FACTS[2:])}}


def _board(view: BoardView, settings: BoardSettings) -> dict[str, Any]:
    board = view.board
    return {
        "study": board.rules.study,
        "suite": board.rules.suite,
        "rules": board.rules.hash,
        "pinned": board.pinned,
        "cases": sorted(board.rules.cases.values()),
        "rounds": board.rules.rounds,
        "align": board.rules.align,
        "metrics": board.rules.metrics,
        "finding": view.models.analysis.headline[0] if view.models else "",
        "pairwise": view.models.analysis.pairwise.to_dicts() if view.models else [],
        "older": [entry_facts(one, settings) for one in board.older],
        "not_compared": [{"file": one.bundle.name, "reason": reason} for one, reason in board.left_out],
    }
