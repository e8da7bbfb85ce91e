"""Onsets and first notices: per image, a tick for each run's onset and a dot for each first notice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import NARROW, PageChart
from convergebench.report.charts.plot import CLIP, Axis, Datum, Spec, disc, mark_of
from convergebench.report.charts.rows import row_plot
from convergebench.report.charts.scale import whole_ticks
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

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        narrow = width <= NARROW
        last = max(1, self.last)
        axis = Axis(0, last, "steps", 10, whole_ticks(last, 5 if narrow else 10), whole=True)
        plot = row_plot(
            width,
            len(self.rows),
            axis,
            row=(ROW, ROW + 18),
            left=218,
            right=(190 if self.noticed else 60, 34),
            top=12,
            middle_of=(0.5, 1 - ROW / 2 / (ROW + 18)),
        )
        summaries = [summary(one) if self.noticed else "" for one in self.rows]
        if narrow:
            names = [
                middle(one.name, 46 - len(said)) + (f" · {said}" if said else "")
                for one, said in zip(self.rows, summaries, strict=True)
            ]
            plot.names(names, lift=18)
        else:
            plot.names([one.name for one in self.rows], room=30)
            plot.values(summaries, gap=30)
        rows = list(zip(self.rows, plot.ys, strict=True))
        colour = self.style.variable
        ticks: list[Datum] = [
            {"x": at, "y": y - 6 - min(times, 5), "y2": y + 6 + min(times, 5)}
            for one, y in rows
            for at, times in Counter(one.onsets).items()
        ]
        plot.add("rule", ticks, px="y", color="var(--ink)", strokeWidth=1.6, clip=CLIP)
        means: list[Datum] = [
            {"low": one.mean - one.std, "high": one.mean + one.std, "y": y}
            for one, y in rows
            if one.mean is not None and one.std is not None
        ]
        plot.whiskers(means, color=colour)
        notices: list[Datum] = [
            {"x": at, "y": y, "size": disc(3 + min(times, 4) * 0.8)}
            for one, y in rows
            for at, times in Counter(one.notices).items()
        ]
        look = {key: value for key, value in mark_of(self.style).items() if key != "size"}
        plot.add("point", notices, px="y", clip=CLIP, **look)
        ends = [{"x": plot.wide + 4, "y": y + 4, "text": "|→"} for one, y in rows if one.unbroken]
        plot.add("text", ends, px="xy", align="left", color="var(--soft)")
        never = [
            {"x": plot.wide + (18 if one.unbroken else 4), "y": y + 4, "text": "●→"} for one, y in rows if one.never
        ]
        plot.add("text", never, px="xy", align="left", color=colour)
        plot.hover([f"{one.name}: {_says(one, noticed=self.noticed)}" for one in self.rows], ROW)
        listed = [
            {
                **{"row": one.name, "onsets": " ".join(map(str, sorted(one.onsets))), "unbroken": one.unbroken},
                **{"notices": " ".join(map(str, sorted(one.notices))), "never": one.never},
                **{"mean": one.mean, "std": one.std},
            }
            for one in self.rows
        ]
        plot.meta["table"] = {
            "data": plot.named(listed),
            "columns": [[key, key] for key in listed[0]] if listed else [],
        }
        return plot.spec()


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
