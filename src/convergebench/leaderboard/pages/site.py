"""Every file of the site, the index last: pages, pictures, data, feed, and what GitHub Pages needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from convergebench.leaderboard.boards import Board
from convergebench.leaderboard.checking import CheckedBundle
from convergebench.leaderboard.pages.data import data_files
from convergebench.leaderboard.pages.feed import feed
from convergebench.leaderboard.pages.model_page import model_pages
from convergebench.leaderboard.pages.names import page_of_board
from convergebench.leaderboard.pages.rows import entry_facts, panel
from convergebench.leaderboard.pages.view import TEMPLATES, BoardView, renderer
from convergebench.leaderboard.settings import BoardSettings
from convergebench.leaderboard.standings import board_settings
from convergebench.report.chart_library import library_file
from convergebench.report.output import RenderedFile

SITE_MARK = "leaderboard-files.json"
"""Lists every file of the site, so that the next build can remove what it does not write again."""

README = """# {title}

A static site made by `cbench leaderboard build` of ConvergeBench {version}; do not edit it by hand. Every link is
relative, so it works in any folder, GitHub Pages included (`.nojekyll` keeps GitHub from changing it).
The numbers are in `data/leaderboard.json` and `data/leaderboard.csv`, changes in `feed.xml`.
"""


@dataclass(frozen=True)
class SiteInput:
    """What the site shows."""

    boards: list[Board]
    rejected: tuple[CheckedBundle, ...]
    settings: BoardSettings


def render_site(given: SiteInput) -> Iterator[RenderedFile]:
    """Every file of the site; `index.html` is the last."""
    names: list[str] = []
    for name, content in _files(given):
        if name != "index.html":
            names.append(name)
            yield name, content
            continue
        listed = json.dumps({"files": sorted([*names, name])}, indent=1) + "\n"
        yield SITE_MARK, listed
        yield name, content


def _files(given: SiteInput) -> Iterator[RenderedFile]:
    views = [BoardView(board, page_of_board(board.rules, place)) for place, board in enumerate(given.boards)]
    yield ".nojekyll", ""
    yield "README.md", README.format(title=given.settings.title, version=version("convergebench"))
    yield from data_files(views, given.rejected, given.settings)
    yield "feed.xml", feed(views, given.settings)
    if views:
        yield library_file()
    yield from model_pages(views, given.settings)
    for view in reversed(views):
        yield view.file, board_page(view, views, given)
    if not views:
        yield "index.html", empty_page(given)


def board_page(view: BoardView, views: list[BoardView], given: SiteInput) -> str:
    """The page of one board."""
    board, settings = view.board, given.settings
    shown = view.models or view.simulated
    panels = [panel(view.models, one, settings, view.style) for one in view.models.filters] if view.models else []
    apart = panel(view.simulated, view.simulated.filters[0], settings, view.style) if view.simulated else None
    return renderer(settings.title, view).render(
        TEMPLATES / "board.html",
        title=settings.title,
        here=view.file,
        boards=[(one.file, one.title) for one in views],
        finding=_finding(view),
        more=list(view.models.analysis.headline[1:3]) if view.models else [],
        board=board,
        panels=panels,
        apart=apart,
        changes=changes(view, settings),
        rejected=given.rejected,
        confidence=f"{100 * board_settings(board).confidence:.3g} %",
        level=board_settings(board).level,
        headline=board_settings(board).headline,
        formula=shown.analysis.formula if shown else "",
        tested=_tested(view),
        categories=[one for one in panels if one["name"].startswith("category:")],
        resolutions=[one for one in panels if one["name"].startswith("resolution:")],
    )


def _finding(view: BoardView) -> str:
    if view.models is not None:
        return view.models.analysis.headline[0]
    if view.simulated is not None:
        return "No model has been submitted yet; simulated editors are listed below."
    return "No bundle meets the rules of this board yet."


def _tested(view: BoardView) -> list[dict[str, Any]]:
    return view.models.analysis.pairwise.to_dicts() if view.models else []


def changes(view: BoardView, settings: BoardSettings) -> list[dict[str, Any]]:
    """Every compared submission, the newest first."""
    newest = {one.identity for one in view.board.entries}
    every = [*view.board.entries, *view.board.older]
    order = sorted(every, key=lambda one: (one.loaded.finished, one.name, one.identity), reverse=True)
    return [{**entry_facts(one, settings), "current": one.identity in newest} for one in order]


def empty_page(given: SiteInput) -> str:
    """The page of a leaderboard without an accepted bundle."""
    return renderer(given.settings.title, None).render(
        TEMPLATES / "empty.html", title=given.settings.title, rejected=given.rejected
    )
