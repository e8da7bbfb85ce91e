"""Rows of the tables on the pages: a ranking with costs, submitter and date beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from convergebench.leaderboard.entries import LeaderboardEntry
from convergebench.leaderboard.pages.names import page_of
from convergebench.leaderboard.settings import BoardSettings
from convergebench.leaderboard.standings import Filter, Standings
from convergebench.leaderboard.submission import IMPORTED, PARTIAL
from convergebench.report.charts.dots import Dot, DotChart
from convergebench.report.palette import Style
from convergebench.report.wording import count, interval, no_interval, no_score, number, percents, rounds_interval

MOST_DOTS = 24
SHOWN = (IMPORTED, PARTIAL)
"""Labels of a bundle that are true of each of its entries."""
IDLE = 0.5
"""An editor that does fewer of its edits keeps images by leaving them alone, and is marked."""


def ranking_rows(
    frame: pl.DataFrame, entries: Mapping[str, LeaderboardEntry], settings: BoardSettings
) -> list[dict[str, Any]]:
    """The rows of a ranking in its order, with what the entry itself says."""
    rows = frame.to_dicts()
    best = max((row["score"] for row in rows if row["rank"] is not None and row["score"] is not None), default=None)
    return [_row(row, entries[row["editor"]], settings, best) for row in rows]


def _row(row: dict[str, Any], entry: LeaderboardEntry, settings: BoardSettings, best: float | None) -> dict[str, Any]:
    life = rounds_interval(row["half_life_low"], row["half_life_high"])
    if not life and row["half_life"] and not row["half_life"].startswith(">"):
        life = no_interval(row["n_sources"])
    places = rounds_interval(row["rank_low"], row["rank_high"])
    facts = entry_facts(entry, settings)
    facts["labels"] = [*_marks(row), *facts["labels"]]
    return {
        **row,
        **facts,
        "life": row["half_life"] or "not measured",
        "life_interval": life,
        "places": places if places and places != str(row["rank"]) else "",
        "best": row["rank"] is not None and row["score"] == best,
        "survival_interval": percents(row["survival_low"], row["survival_high"]),
        "why": "" if row["score"] is not None else no_score(row["n_cases"]),
        "score_interval": interval(row["low"], row["high"], 1) or no_interval(row["n_sources"]),
    }


def _marks(row: dict[str, Any]) -> list[str]:
    """What readers should see beside the name, from the row itself."""
    found = []
    if row["done"] is not None and row["done"] < IDLE:
        found.append(f"edits happened in {100 * row['done']:.0f} % of rounds")
    for word in ("refused", "failed"):
        if row[f"n_{word}"]:
            found.append(f"{row[f'n_{word}']} of {count(row['n_chains'], 'chain')} {word}")
    if row["n_missing"]:
        found.append(f"{row['n_missing']} values missing")
    if row["n_lost"]:
        found.append(f"{row['n_lost']} images could not be measured")
    return found


def entry_facts(entry: LeaderboardEntry, settings: BoardSettings) -> dict[str, Any]:
    """What a table shows of an entry besides its scores."""
    checked, costs = entry.loaded.checked, entry.costs
    return {
        "name": entry.label or entry.name,
        "page": page_of(entry.name),
        "models": [model for model in entry.facts["models"] if model != entry.name],
        "submitter": entry.loaded.submitter,
        "key": checked.key,
        "holder": settings.keys.get(checked.key, "") if checked.key else "",
        "date": entry.loaded.finished[:10],
        "labels": [label for label in checked.labels if label in SHOWN or label.startswith("not measured again")],
        "dollars": costs.dollars,
        "cost": cost_text(costs.dollars, costs.unsettled),
        "seconds": costs.seconds,
        "speed": "–" if costs.seconds is None else f"{costs.seconds:.1f}" if costs.seconds >= 0.1 else "< 0.1",
        "package": str(entry.loaded.bundle.about["package"]),
        "fingerprint": str(entry.facts["fingerprint"]),
        "bundle": entry.loaded.bundle.sha256,
        "head": checked.head,
        "id": entry.identity,
        "simulated": entry.simulated,
    }


def cost_text(dollars: float | None, unsettled: int) -> str:
    """`$0.039`, or a dash; with a mark where some calls may or may not be charged."""
    if dollars is None:
        return "–"
    shown = "$0" if dollars == 0 else f"${dollars:.3f}" if dollars >= 0.001 else "< $0.001"
    return f"{shown} (+ {unsettled} calls of unknown price)" if unsettled else shown


def ranking_chart(rows: list[dict[str, Any]], style: Mapping[str, Style], words: str) -> DotChart | None:
    """Dots with intervals, best at the top."""
    dots = [
        Dot(row["name"], style[row["name"]], row["score"], row["low"], row["high"], row["why"], row["rank"] is None)
        for row in rows[:MOST_DOTS]
    ]
    if not any(dot.value is not None for dot in dots):
        return None
    label = f"Ranking by convergence score, {words}. " + "; ".join(f"{dot.name} {number(dot.value, 1)}" for dot in dots)
    return DotChart(dots, "convergence score C (→ better)", label)


def panel(standings: Standings, chosen: Filter, settings: BoardSettings, style: Mapping[str, Style]) -> dict[str, Any]:
    """Chart and table of one filter, and how many cases it rests on."""
    entries = {one.label: one for one in standings.entries}
    rows = ranking_rows(standings.rankings[chosen.name], entries, settings)
    ranked = [row for row in rows if row["rank"] is not None]
    cases, sources = (max((row[name] for row in ranked or rows), default=0) for name in ("n_cases", "n_sources"))
    return {
        "name": chosen.name,
        "words": chosen.words,
        "of": len(chosen.cases),
        "cases": cases,
        "sources": sources,
        "rows": rows,
        "ranked": len(ranked),
        "few": [row for row in rows if row["values"]],
        "chart": ranking_chart(rows, style, chosen.words),
        "uncovered": [row for row in rows if row["rank"] is None and not row["reference"]],
    }
