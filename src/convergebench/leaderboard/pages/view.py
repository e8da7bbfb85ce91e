"""A board with its results, as every page of the site sees it, and the templates of the pages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

from markupsafe import Markup

from convergebench.analysis import ANALYSIS_VERSION
from convergebench.leaderboard.boards import Board
from convergebench.leaderboard.entries import LeaderboardEntry
from convergebench.leaderboard.standings import Standings, board_settings
from convergebench.report.environment import Renderer
from convergebench.report.page import style_context
from convergebench.report.palette import Style, styles
from convergebench.studies.base import study_of
from convergebench.studies.units import ROUND, Unit

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class BoardView:
    """A board with its results, and its page."""

    board: Board
    file: str

    @cached_property
    def models(self) -> Standings | None:
        """Models that follow instructions, and references beside them."""
        return self._standings(self.board.models)

    @cached_property
    def simulated(self) -> Standings | None:
        """Programmed baselines."""
        return self._standings(self.board.simulated)

    def _standings(self, entries: list[LeaderboardEntry]) -> Standings | None:
        return Standings(self.board, entries, board_settings(self.board)) if entries else None

    @cached_property
    def style(self) -> dict[str, Style]:
        """Colours in order of the ranking, the same on every page."""
        order: list[str] = []
        for one in (self.models, self.simulated):
            order += one.analysis.ranking["editor"].to_list() if one else []
        return styles(order)

    @property
    def unit(self) -> Unit:
        """What a round is called."""
        return study_of(self.board.rules.study).unit

    @property
    def title(self) -> str:
        """Study and suite."""
        return f"{self.board.rules.study} on {self.board.rules.suite}"


def renderer(name: str, view: BoardView | None) -> Renderer:
    """Templates of pages with the look of all reports."""
    style = view.style if view else {}
    marks = {one.label: [("simulated", "simulated")] for one in view.board.simulated} if view else {}
    shared = {
        "name": name,
        "unit": view.unit if view else ROUND,
        **style_context(style, marks),
        "board_style": Markup((TEMPLATES / "board.css").read_text(encoding="utf-8")),
        "board_script": Markup((TEMPLATES / "board.js").read_text(encoding="utf-8")),
        "package": version("convergebench"),
        "analysis_version": ANALYSIS_VERSION,
    }
    return Renderer(shared)
