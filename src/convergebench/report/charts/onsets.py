"""Onsets and first notices: per image, a tick for each run's onset and a dot for each first notice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.scale import Scale, horizontal_axis, whole_ticks
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, line, text
from convergebench.report.palette import Style
from convergebench.report.wording import count, middle, number

ROW = 30


@dataclass(frozen=True, slots=True)
class ImageOnsets:
    """One image: the onset and the first notice of each run that has one, and how many runs have none."""

    name: str
    onsets: tuple[int, ...]
    unbroken: int
    """Runs that never left the band."""
    notices: tuple[int, ...] = ()
    never: int = 0
    """Runs that never noticed."""
    mean: float | None = None
    std: float | None = None


@dataclass(frozen=True, slots=True)
class OnsetChart(PageChart):
    """Steps across, images down; an arrow at the right end marks runs without the event within `last` steps.

    `noticed`: the run has answers about noticing, so the chart makes room for them.
    """

    rows: Sequence[ImageOnsets]
    last: int
    style: Style
    label: str
    noticed: bool

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        left, right, top = (8, 34, 12) if narrow else (218, 190 if self.noticed else 60, 12)
        row = ROW + (18 if narrow else 0)
        bottom = top + row * max(1, len(self.rows))
        x = Scale(0, max(1, self.last), left, width - right)
        marks = whole_ticks(int(x.high), 5 if narrow else 10)
        parts: list[object] = [line(x(mark), top, x(mark), bottom, class_="grid") for mark in marks]
        parts += horizontal_axis(x, marks, bottom, "steps")
        for place, one in enumerate(self.rows):
            y = top + row * place + (row - ROW / 2)
            parts.append(_row(one, x, y, self.style, noticed=self.noticed, narrow=narrow))
        return drawing(parts, width=width, height=bottom + 44, label=self.label)


def _row(one: ImageOnsets, x: Scale, y: float, style: Style, *, noticed: bool, narrow: bool) -> Markup:
    summary_text = summary(one) if noticed else ""
    parts: list[object] = [element("title", f"{one.name}: {_says(one, noticed=noticed)}")]
    if narrow:
        name = middle(one.name, 46 - len(summary_text)) + (f" · {summary_text}" if summary_text else "")
        parts.append(text(name, x.start, y - 18, class_="label"))
    else:
        parts.append(text(middle(one.name, 30), x.start - 18, y + 4, class_="label", text_anchor="end"))
        parts.append(text(summary_text, x.end + 30, y + 4, class_="value"))
    for at, times in Counter(one.onsets).items():
        tall = 6 + min(times, 5)
        parts.append(line(x(at), y - tall, x(at), y + tall, class_="onset"))
    if one.unbroken:
        parts.append(text("|→", x.end + 4, y + 4, class_="tick"))
    if one.mean is not None and one.std is not None:
        parts.append(line(x(one.mean - one.std), y, x(one.mean + one.std), y, stroke=style.variable, class_="whisker"))
    for at, times in Counter(one.notices).items():
        parts.append(element("circle", cx=x(at), cy=y, r=3 + min(times, 4) * 0.8, **style.dot))
    if one.never:
        parts.append(text("●→", x.end + (18 if one.unbroken else 4), y + 4, class_="tick", fill=style.variable))
    return group(parts, class_="dot")


def summary(one: ImageOnsets) -> str:
    """`20.2 ± 4.1, 1 of 5 never`."""
    runs = len(one.notices) + one.never
    if not runs:
        return "not asked"
    mean = "" if one.mean is None else number(one.mean, 1) + ("" if one.std is None else f" ± {number(one.std, 1)}")
    never = f"{one.never} of {runs} never" if one.never else ""
    return ", ".join(part for part in (mean, never) if part) or "no value"


def _says(one: ImageOnsets, *, noticed: bool) -> str:
    onset = f"onset at {', '.join(map(str, sorted(one.onsets)))}" if one.onsets else "no onset"
    unbroken = f", {count(one.unbroken, 'run')} without" if one.unbroken else ""
    if not noticed:
        return onset + unbroken
    notices = f"noticed at {', '.join(map(str, sorted(one.notices)))}" if one.notices else "never noticed"
    return f"{onset}{unbroken}; {notices}; {summary(one)}"
