"""A run on one A4 page as PDF: the finding, strips of pictures, the ranking, the headline curve, how it was made."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure

from convergebench.report.charts import printed_effects, printed_rated  # noqa: F401  (makes their charts drawable)
from convergebench.report.charts.base import Chart
from convergebench.report.charts.dots import DotChart
from convergebench.report.charts.lines import LineChart
from convergebench.report.charts.printed import RC_PARAMS, draw
from convergebench.report.hero import Hero
from convergebench.report.input import ReportInput
from convergebench.report.made import made_line
from convergebench.report.output import make_whole
from convergebench.report.page import Page, open_page
from convergebench.report.plots import charts
from convergebench.report.thumbnails import shrink
from convergebench.report.wording import middle, number
from convergebench.store.images import open_images

A4 = (8.27, 11.69)
_LEFT, _WIDE = 0.085, 0.83
"""PlotMargins, as shares of the page."""
_INK, _SOFT = "#1b1b1d", "#56565c"
_SIDE = 320
_RC_PARAMS: Any = {**RC_PARAMS, "font.size": 7.5}
MOST_FRAMES, MOST_SENTENCES, MOST_ROWS = 6, 3, 10


def write_pdf(given: ReportInput, path: Path) -> Figure:
    """Write the page; returns it as a figure."""
    with mpl.rc_context(_RC_PARAMS):
        page = one_page(given)
        made = {"CreationDate": None, "Creator": "ConvergeBench", "Producer": None, "Title": page.get_label()}
        make_whole(path, lambda part: page.savefig(part, format="pdf", metadata=made))
    return page


def one_page(given: ReportInput) -> Figure:
    """The page as a matplotlib figure."""
    page = open_page(given)
    shared = page.renderer.shared
    figure = Figure(figsize=A4, label=f"{shared['name']}: {shared['finding']}"[:200])
    FigureCanvasPdf(figure)
    text = _Text(figure, 0.955)
    text.add(f"ConvergeBench · {shared['study']} · {middle(shared['name'], 60)} · {shared['created']}", 8, _SOFT)
    text.add(shared["finding"], 15, _INK, weight="bold", family="serif", wide=56)
    for sentence in shared["more"][:MOST_SENTENCES]:
        text.add(sentence, 9, _SOFT, wide=112)
    y = _pictures(figure, page, text.y - 0.012)
    y = _ranking(figure, given, y - 0.012)
    drawn = dict(charts(given))
    y = _charts(figure, [one for one in (_dots(drawn), _curve(drawn)) if one is not None], y)
    foot = _Text(figure, 0.062)
    foot.add(made_line(given.manifest, analysis_version=given.analysis.version), 6, _SOFT, wide=185)
    return figure


class _Text:
    """Paragraphs from the top down; `y` is where the next one starts, as a share of the page."""

    def __init__(self, figure: Figure, y: float) -> None:
        self.figure, self.y = figure, y

    def add(self, words: str, size: float, colour: str, *, wide: int = 120, **style: Any) -> None:
        lines = textwrap.wrap(words, wide, break_on_hyphens=False)
        self.figure.text(_LEFT, self.y, "\n".join(lines), size=size, color=colour, va="top", linespacing=1.3, **style)
        self.y -= len(lines) * size * 1.36 / 72 / A4[1] + 0.006


def _pictures(figure: Figure, page: Page, y: float) -> float:
    """The strips of the report's head; returns where they end."""
    hero: Hero | None = page.hero
    if hero is None:
        return y
    view = open_images(page.given.run).view
    for strip in hero.strips:
        frames = strip.frames[:MOST_FRAMES]
        figure.text(
            _LEFT, y, f"{middle(strip.editor, 50)}, {strip.place}", size=8.5, color=_INK, va="top", weight="bold"
        )
        y -= 0.017
        wide = _WIDE / MOST_FRAMES
        high = (wide - 0.008) * A4[0] / A4[1]
        for place, frame in enumerate(frames):
            data = shrink(view(frame.image), square=_SIDE)
            pixels = None if data is None else cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
            axes = figure.add_axes((_LEFT + place * wide, y - high, wide - 0.008, high))
            axes.set_axis_off()
            if pixels is not None:
                axes.imshow(pixels[:, :, ::-1])
            shown = f" · {page.given.headline_metric} {number(frame.value, 2)}" if frame.round and frame.value else ""
            name = "source" if frame.round == 0 else str(frame.round)
            figure.text(_LEFT + place * wide, y - high - 0.004, name + shown, size=7, color=_SOFT, va="top")
        y -= high + 0.024
    words = f"The numbers count {page.given.unit.many} of “{hero.pair}”; the case is {hero.why}."
    text = _Text(figure, y)
    text.add(words, 7, _SOFT, wide=160)
    return text.y


def _ranking(figure: Figure, given: ReportInput, y: float) -> float:
    """The ranking as a table; returns where it ends."""
    rows = given.ranked[:MOST_ROWS]
    if not rows:
        return y
    places = (0.0, 0.05, 0.45, 0.53, 0.66, 0.76, 0.88)
    heads = ("#", "editor", "score", "interval", "done", "half-life", "n cases / images")
    lines = [heads]
    for row in rows:
        ends = f"{number(row['low'], 1)} to {number(row['high'], 1)}" if row["low"] is not None else "too few images"
        done = "–" if row["done"] is None else f"{100 * row['done']:.0f} %"
        counts = f"{row['n_cases']} / {row['n_sources']}"
        name = given.marked(row["editor"], 40)
        score = number(row["score"], 1)
        lines.append((str(row["rank"] or "–"), name, score, ends, done, row["half_life"] or "–", counts))
    for line in lines:
        for place, cell in zip(places, line, strict=True):
            bold = "bold" if line is heads else "normal"
            figure.text(_LEFT + place * _WIDE, y, cell, size=7.5, color=_INK, va="top", weight=bold)
        y -= 0.0145
    hidden = len(given.ranked) - len(rows)
    if hidden:
        figure.text(_LEFT, y, f"and {hidden} more in the report", size=7, color=_SOFT, va="top")
        y -= 0.0145
    return y


def _dots(drawn: dict[str, Chart]) -> Chart | None:
    return next(
        (chart for chart in drawn.values() if isinstance(chart, DotChart) and len(chart.dots) <= MOST_ROWS), None
    )


def _curve(drawn: dict[str, Chart]) -> Chart | None:
    return next((chart for chart in drawn.values() if isinstance(chart, LineChart) and chart.series), None)


def _charts(figure: Figure, shown: list[Chart], top: float) -> float:
    """The charts side by side in what is left of the page; none if there is no room."""
    bottom, high = 0.085, min(0.30, top - 0.085 - 0.03)
    if not shown or high < 0.09:
        return top
    wide = _WIDE / len(shown)
    for place, chart in enumerate(shown):
        x, own = _LEFT + place * wide, high
        if isinstance(chart, DotChart):
            own = min(high, 0.06 + 0.02 * len(chart.dots))
            names = [replace(dot, marked=middle(dot.marked or dot.name, 26)) for dot in chart.dots]
            chart, box = replace(chart, dots=names, whiskers=""), (x + 0.36 * wide, 0.5 * wide)
        else:
            box = (x + 0.16 * wide, 0.6 * wide)
        draw(chart, _Panel(figure, (box[0], top - 0.02 - 0.8 * own, box[1], 0.8 * own)))  # type: ignore[arg-type]
    return bottom


class _Panel:
    """A part of the page that charts take for a whole figure of one plot."""

    def __init__(self, figure: Figure, box: tuple[float, float, float, float]) -> None:
        self._figure, self._box = figure, box

    def add_subplot(self) -> Any:
        """The axes of the plot."""
        return self._figure.add_axes(self._box)

    def set_size_inches(self, *size: float) -> None:
        """The page has its own size."""
