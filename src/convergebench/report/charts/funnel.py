"""A funnel: one bar per stage, as long as what gets there; the last may be divided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import NARROW, PageChart
from convergebench.report.charts.plot import Axis, Datum, Spec
from convergebench.report.charts.rows import row_plot
from convergebench.report.palette import Style
from convergebench.report.wording import percent

SHADES = (1.0, 0.62, 0.36, 0.22)
"""Opacity of the first, second, … part of a divided bar."""


@dataclass(frozen=True, slots=True)
class FunnelStage:
    """One bar; `parts` are (name, n) that add up to `n`."""

    name: str
    n: int
    share: float | None
    note: str = ""
    parts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class FunnelChart(PageChart):
    """Stages from the widest to the narrowest; the pale ground of a bar is the first stage."""

    stages: Sequence[FunnelStage]
    style: Style
    label: str

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        most = max((stage.n for stage in self.stages), default=0) or 1
        narrow = width <= NARROW
        bar = 18 if narrow else 22
        axis = Axis(0, most, grid=False, labels=False, line=False)
        plot = row_plot(
            width,
            len(self.stages),
            axis,
            row=(36, 46),
            left=190,
            right=(130, 92),
            top=4,
            bottom=4,
            middle_of=(11 / 36, 27 / 46),
        )
        plot.names([stage.name for stage in self.stages], lift=14)
        ground = [{"y": y - bar / 2, "y2": y + bar / 2} for y in plot.ys]
        plot.add("rect", ground, px="y", x=0, x2=plot.wide, fill="var(--grid)", cornerRadius=3)
        parts: list[Datum] = []
        for stage, y in zip(self.stages, plot.ys, strict=True):
            parts += self._parts(stage, y, bar, plot.wide / most)
        plot.add("rect", parts, px="y", cornerRadius=3, fill=self.style.variable)
        for place, tone in ((True, "var(--paper)"), (False, "var(--ink)")):
            inside = [part for part in parts if part["text"] and part["first"] is place]
            plot.add("text", inside, px="y", y="middle", y2="none", dx=6, align="left", color=tone, x2="none")
        plot.values([_counted(stage, place) for place, stage in enumerate(self.stages)], gap=12)
        columns = [["stage", "stage"], ["part", "part"], ["n", "n"]]
        plot.meta["zoom"] = False  # its pale ground is the whole
        plot.meta["table"] = {"data": plot.named(parts), "columns": columns}
        return plot.spec()

    def _parts(self, stage: FunnelStage, y: float, bar: float, unit: float) -> list[Datum]:
        """The pieces of one bar; a name is written into its piece where it fits."""
        says = "; ".join([f"{stage.name}: {stage.n}", *(f"{name}: {n}" for name, n in stage.parts)])
        found: list[Datum] = []
        at = 0
        for place, (name, n) in enumerate(stage.parts or (("", stage.n),)):
            fits = name and n * unit > 7 * len(f"{name}: {n}") + 10
            found.append(
                {
                    **{"stage": stage.name, "part": name, "n": n, "x": at, "x2": at + n, "first": place == 0},
                    **{"y": y - bar / 2, "y2": y + bar / 2, "middle": y + bar / 2 - 6},
                    **{"fillOpacity": SHADES[min(place, len(SHADES) - 1)], "text": f"{name}: {n}" if fits else ""},
                    "says": f"{says}. {stage.note}".removesuffix(". "),
                }
            )
            at += n
        return found


def _counted(stage: FunnelStage, place: int) -> str:
    """The count of a stage, with its share of the first one."""
    return f"{stage.n}" + ("" if stage.share is None or place == 0 else f" ({percent(stage.share)})")
