"""Does the length of a prompt matter, does asking for fidelity matter, and does one depend on the other?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.report.charts.differences import Difference, DifferenceChart, VariantLine
from convergebench.report.charts.interaction import CellMean, InteractionChart, InteractionLine
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.palette import Style
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.restoration.found import (
    direction,
    found_in,
    gain_text,
    has_intervals,
    methods_of,
    metric_head,
    metrics_of,
    prompt_facts,
)
from convergebench.report.wording import axis_title, interval

EFFECTS = {
    "length": ("length", "long minus short"),
    "fidelity": ("fidelity hint", "with minus without"),
    "interaction": ("interaction", "how the one changes the other"),
}
"""Effect → its name and what it is."""
LEVELS = ("short", "long")
HINTS = ((False, "without hint"), (True, "with hint"))


def factors_section(page: Page) -> dict[str, Any] | None:
    """A panel per editor: interaction plots, effects with intervals, and all numbers."""
    found = found_in(page)
    if found is None or not found.factor_effects.height:
        return None
    panels = [_panel(page, found, editor) for editor in methods_of(page, found.factor_effects)]
    return {"panels": Panels("restoration-factor", "restoration_factors_panel.html", panels)} if panels else None


def _panel(page: Page, found: RestorationAnalysis, editor: str) -> Row:
    metrics = metrics_of(found, found.factor_effects)
    charts = [
        {
            "metric": name,
            "interaction": interaction_chart(page, found, editor, name),
            "effects": effects_chart(page, found, editor, name),
        }
        for name in metrics
    ]
    own = rows(found.factor_effects, editor=editor)
    order = {name: place for place, name in enumerate(metrics)}
    table = []
    for row in sorted(own, key=lambda row: order[row["metric"]]):
        places = metric_head(row["metric"], page.given)["digits"]
        table.append(
            {
                **row,
                "name": EFFECTS.get(row["effect"], (row["effect"], ""))[0],
                "text": gain_text(row["estimate"], places) or "–",
                "ends": interval(row["low"], row["high"], places),
            }
        )
    return {
        "name": editor,
        "charts": charts,
        "rows": table,
        "holds": sum(1 for row in own if row["significant"]),
        "few": not has_intervals(own),
    }


def interaction_chart(page: Page, found: RestorationAnalysis, editor: str, metric: str) -> InteractionChart | None:
    """Means of the four groups of prompts; None unless all four cells have one."""
    cells = {row["row"]: row for row in rows(found.prompt_results, editor=editor, metric=metric)}
    style = page.style[editor]
    lines = []
    for hint, name in HINTS:
        means = tuple(_mean(_cell_row(page, cells, length, hint)) for length in LEVELS)
        lines.append(InteractionLine(name, Style(style.slot, "" if hint else "5 4"), means))
    if any(cell.value is None for one in lines for cell in one.cells):
        return None
    title = axis_title(metric, page.given.facts)
    listed = "; ".join(
        f"{length}, {one.name} {cell.value:.3f}"
        for one in lines
        for length, cell in zip(LEVELS, one.cells, strict=True)
    )
    return InteractionChart(lines, LEVELS, title, f"{editor}, {title}, by length and fidelity hint: {listed}")


def _cell_row(page: Page, cells: dict[str, Row], length: str, hint: bool) -> Row | None:
    """The row of a cell of the design: the mean of its group, or its only prompt."""
    own = {
        prompt: facts.get("group")
        for prompt, facts in prompt_facts(page).items()
        if (facts.get("length"), facts.get("fidelity")) == (length, hint) and prompt in cells
    }
    groups = set(own.values())
    if len(groups) != 1:
        return None
    return cells[next(iter(own))] if len(own) == 1 else cells.get(f"Avg({groups.pop()})")


def _mean(row: Row | None) -> CellMean:
    """Without its interval: that is about how much pictures differ, and effects are within pictures."""
    return CellMean(row["mean"]) if row else CellMean(None)


def effects_chart(page: Page, found: RestorationAnalysis, editor: str, metric: str) -> DifferenceChart | None:
    """The three effects of one metric about zero; None where none has a value."""
    own = {row["effect"]: row for row in rows(found.factor_effects, editor=editor, metric=metric)}
    head = metric_head(metric, page.given)
    lines = []
    for effect, (name, what) in EFFECTS.items():
        row = own.get(effect)
        if row is None or row["estimate"] is None:
            continue
        ends = interval(row["low"], row["high"], head["digits"])
        says = f"{name} ({what}): {gain_text(row['estimate'], head['digits'])}{f' ({ends})' if ends else ''}"
        dot = Difference(editor, page.style[editor], row["estimate"], row["low"], row["high"], says)
        lines.append(VariantLine(name, what, ((dot,),)))
    if not lines:
        return None
    unit = f", {head['unit']}" if head["unit"] else ""
    title = f"{metric}: effect{unit}"
    label = f"{editor}, {title}. " + "; ".join(dot.says for line in lines for dot in line.columns[0])
    return DifferenceChart(lines, [""], title, label, direction(metric, page.given), small=True)


def _figures(page: Page) -> Iterator[tuple[str, Any]]:
    found = found_in(page)
    if found is None:
        return
    for editor in methods_of(page, found.factor_effects):
        for metric in metrics_of(found, found.factor_effects):
            named = (("interaction", interaction_chart), ("effects", effects_chart))
            for name, make in named:
                chart = make(page, found, editor, metric)
                if chart is not None:
                    yield f"restoration-{name}-{editor}-{metric}", chart


FACTORS = TemplateSection(
    "restoration-factors", "Length and fidelity", "restoration_factors.html", factors_section, _figures, key="factors"
)
