"""The page of a model: its finding, curves, breakdown, sample images, and its submissions over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from convergebench.leaderboard.entries import LeaderboardEntry
from convergebench.leaderboard.pages.names import page_of
from convergebench.leaderboard.pages.rows import entry_facts, ranking_rows
from convergebench.leaderboard.pages.strips import strips_of
from convergebench.leaderboard.pages.view import TEMPLATES, BoardView, renderer
from convergebench.leaderboard.settings import BoardSettings
from convergebench.leaderboard.standings import Standings, board_settings
from convergebench.report.charts.dots import Dot, DotChart
from convergebench.report.charts.lines import LineChart
from convergebench.report.charts.series import LineSeries, Point, drawable, endless_names, thin
from convergebench.report.output import RenderedFile
from convergebench.report.palette import Style
from convergebench.report.wording import axis_title, count, interval, number

MOST_OTHERS = 5


def model_pages(views: Sequence[BoardView], settings: BoardSettings) -> Iterator[RenderedFile]:
    """A page for every model of every board, and the pictures on it."""
    names = sorted({one.name for view in views for one in (*view.board.entries, *view.board.older)})
    for name in names:
        sections: list[dict[str, Any]] = []
        files: dict[str, bytes] = {}
        for view in views:
            for entry in [one for one in view.board.entries if one.name == name]:
                section, pictures = _section(view, entry, settings)
                sections.append(section)
                files |= pictures
        yield from sorted(files.items())
        view = next(one for one in views if any(entry.name == name for entry in one.board.entries))
        yield (
            page_of(name),
            renderer(settings.title, view).render(
                TEMPLATES / "model.html",
                root="../",
                title=settings.title,
                model=name,
                sections=sections,
                finding=sections[0]["finding"],
                confidence=f"{100 * board_settings(view.board).confidence:.3g} %",
                level=board_settings(view.board).level,
                headline=board_settings(view.board).headline,
            ),
        )


def _section(
    view: BoardView, entry: LeaderboardEntry, settings: BoardSettings
) -> tuple[dict[str, Any], dict[str, bytes]]:
    standings = view.simulated if entry.simulated else view.models
    assert standings is not None
    entries = {one.label: one for one in standings.entries}
    breakdown = []
    for chosen in standings.filters:
        rows = ranking_rows(standings.rankings[chosen.name], entries, settings)
        own = next(row for row in rows if row["name"] == entry.label)
        breakdown.append({**own, "words": chosen.words, "ranked": sum(row["rank"] is not None for row in rows)})
    strips, pictures = strips_of(entry)
    history = _history(view, standings, entry, settings)
    return {
        "file": view.file,
        "board": view.title,
        "unit": view.unit,
        "entry": breakdown[0],
        "finding": finding(breakdown[0], view),
        "charts": [chart for chart in (_curve(view, standings, entry, name) for name in _metrics(standings)) if chart],
        "breakdown": breakdown,
        "strips": strips,
        "history": history,
        "timeline": _timeline(history, view.style[entry.label]) if len(history) > 1 else None,
        "models": entry.facts["models"],
        "settings": entry.facts["settings"],
        "environment": entry.loaded.bundle.about["environment"],
    }, pictures


def finding(row: dict[str, Any], view: BoardView) -> str:
    """The first sentence of the page."""
    kind = " (simulated, not a model)" if row["simulated"] else ""
    if row["score"] is None:
        return f"{row['name']}{kind} has no score: {row['why']}."
    ends = interval(row["low"], row["high"], 1)
    certain = f" (95 %: {ends})" if ends else f" ({count(row['n_sources'], 'image')}: too few for an interval)"
    life = str(row["life"])
    keeps = ""
    if life.startswith(">"):
        keeps = f" and stays close to the original for more than {life.removeprefix('> ')} {view.unit.many}"
    elif life.isdigit():
        keeps = f" and stays close to the original for {count(int(life), view.unit.one, view.unit.many)}"
    return f"{row['name']}{kind} scores {number(row['score'], 1)} of 100{certain}{keeps}."


def _metrics(standings: Standings) -> list[str]:
    settings = standings.settings
    measured = set(standings.analysis.curves["metric"].unique())
    wanted = dict.fromkeys([settings.headline, *settings.quality, settings.semantic or ""])
    return [name for name in wanted if name in measured]


def _curve(view: BoardView, standings: Standings, entry: LeaderboardEntry, metric: str) -> LineChart | None:
    frame = standings.analysis.curves.filter(pl.col("group") == "all", pl.col("metric") == metric)
    order = [one for one in standings.analysis.ranking["editor"].to_list() if one != entry.label][:MOST_OTHERS]
    series = []
    for name in (entry.label, *order):
        rows = frame.filter(pl.col("editor") == name).sort("round").to_dicts()
        own = name == entry.label
        points = [
            Point(row["round"], row["mean"], *((row["low"], row["high"]) if own else (None, None))) for row in rows
        ]
        if any(drawable(point.value) for point in points):
            series.append(LineSeries(name, view.style[name], thin(points)))
    if not series or series[0].name != entry.label:
        return None
    facts = standings.given.facts[metric]
    levels = [
        (name, value) for name, value in (("noticeable", facts.noticeable), ("half", facts.half)) if value is not None
    ]
    start = [] if facts.self_value is None else [facts.self_value]
    label = f"Mean {metric} of {entry.label} after each {view.unit.one}, with other entries for comparison"
    return LineChart(
        series,
        axis_title(metric, standings.given.facts),
        label,
        levels,
        start,
        x_title=view.unit.many,
        endless=endless_names(frame.to_dicts()),
    )


def _history(
    view: BoardView, standings: Standings, entry: LeaderboardEntry, settings: BoardSettings
) -> list[dict[str, Any]]:
    """Every submission of this model by this owner on the board's cases, the newest first."""
    versions = [entry, *(one for one in view.board.older if one.owner == entry.owner)]
    versions.sort(key=lambda one: (one.loaded.finished, one.identity), reverse=True)
    return [{**entry_facts(one, settings), **standings.alone(one), "name": entry.label} for one in versions]


def _timeline(history: list[dict[str, Any]], style: Style) -> DotChart:
    dots = [
        Dot(f"{row['date']} {row['id'][:4]}", style, row["score"], row["low"], row["high"], "no score", place > 0)
        for place, row in enumerate(history)
    ]
    label = "Score of each submission, the newest first: " + "; ".join(
        f"{one.name} {number(one.value, 1)}" for one in dots
    )
    return DotChart(dots, "convergence score C (→ better)", label)
