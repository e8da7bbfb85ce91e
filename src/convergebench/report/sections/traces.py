"""Scores beside pictures: the chain whose score and pictures disagree most, and a page for any other chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
from markupsafe import Markup

from convergebench.analysis.examples import score_changes
from convergebench.analysis.series import against_first, facts_of_series, parse_series
from convergebench.report.chains import chain_key, viewer_link
from convergebench.report.charts.trace import TraceChart
from convergebench.report.hero import STEPS, Hero, shown_rounds
from convergebench.report.input import ReportInput, Row
from convergebench.report.page import Page
from convergebench.report.palette import Style
from convergebench.report.sections.base import PageBeside, TemplateSection
from convergebench.report.thumbnails import HERO_SIDE
from convergebench.report.wording import axis_title, better, short


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A chain, a no-reference metric, and the metric that compares with a reference."""

    editor: str
    case: str
    score: str
    """The metric whose trace is shown."""
    beside: str | None = None
    """The metric that contradicts it; None where nothing disagrees."""


def choose_trace(given: ReportInput, hero: Hero | None) -> Disagreement | None:
    """The chain in which a no-reference score improves most while the picture moves most from its first step.

    Both changes are shares of the metric's range in this run. Without such a chain it is the case of the hero strip
    under its last editor.
    """
    if given.measurements.height == 0:
        return None
    likeness = picture_metric(given)
    ends = score_changes(given.measurements, given.facts)
    lost = {
        (editor, case): -change for editor, case, metric, change in ends if metric == likeness and change is not None
    }
    best, most = None, 0.0
    for editor, case, metric, change in ends:
        known = given.facts.get(metric)
        if known is None or known.kind != "no-reference" or known.better == "neither" or change is None:
            continue
        fooled = change * max(0.0, lost.get((editor, case), 0.0))
        if change > 0 and fooled > most:
            best, most = Disagreement(editor, case, metric, likeness), fooled
    if best is not None or hero is None or not hero.strips:
        return best
    return Disagreement(hero.strips[-1].editor, hero.case, given.headline_metric)


def picture_metric(given: ReportInput) -> str:
    """The headline metric against step 1 where it was measured, else against the source."""
    first = against_first(given.headline_metric)
    return first if first in given.measurements["metric"].unique().to_list() else given.headline_metric


def trace_section(page: Page, chosen: Disagreement | None, pictures: Mapping[str, str]) -> dict[str, Any] | None:
    """The figure of the page: one or two charts, the strip, and the finding."""
    if chosen is None:
        return None
    given = page.given
    steps = {row["index"]: row for row in given.steps.filter(editor=chosen.editor, case=chosen.case).to_dicts()}
    if len(steps) < 2:
        return None
    last = max(steps)
    marks = [step for step in shown_rounds(last, STEPS) if steps.get(step, {}).get("image")]
    metrics = [chosen.score, *([chosen.beside] if chosen.beside else [])]
    measured = {metric: _values(given, chosen, metric) for metric in metrics}
    style = page.style[chosen.editor]
    charts = []
    for place, metric in enumerate(metrics):
        label = f"{metric} of {chosen.editor} on {chosen.case} by step. {_change(given, metric, measured[metric])}"
        title, final = axis_title(metric, given.facts), place == len(metrics) - 1
        charts.append(TraceChart(title, measured[metric], marks, last, style, label, axis=final))
    facts = given.facts.get(chosen.score)
    return {
        "editor": chosen.editor,
        "case": chosen.case,
        "key": chain_key(chosen.editor, chosen.case),
        "score": chosen.score,
        "beside": chosen.beside,
        "summary": facts.summary if facts else "",
        "finding": _finding(given, chosen, measured),
        "charts": charts,
        "frames": [_frame(given, chosen, steps[step], measured, pictures) for step in marks],
    }


def trace_images(given: ReportInput, chosen: Disagreement | None) -> list[str]:
    """The pictures of the strip."""
    if chosen is None:
        return []
    steps = given.steps.filter(editor=chosen.editor, case=chosen.case)
    shown = shown_rounds(int(steps["index"].max() or 0), STEPS) if steps.height else []  # type: ignore[arg-type]
    return [image for image in steps.filter(pl.col("index").is_in(shown))["image"].to_list() if image]


def _values(given: ReportInput, chosen: Disagreement, metric: str) -> dict[int, float | None]:
    part = given.measurements.filter(editor=chosen.editor, case=chosen.case, metric=metric)
    found: dict[int, float | None] = dict(part.select("step", "value").iter_rows())
    known = facts_of_series(metric, given.facts)
    if known is not None and known.self_value is not None and known.kind in ("full-reference", "semantic"):
        found.setdefault(int(parse_series(metric, given.facts).is_against_first), known.self_value)
    return found


def _finding(given: ReportInput, chosen: Disagreement, measured: Mapping[str, Mapping[int, float | None]]) -> str:
    """`brisque calls step 20 better than the source (34.1 → −9.8), while ssim against step 1 falls to 0.41.`."""
    if chosen.beside is None:
        return _change(given, chosen.score, measured[chosen.score])
    (begin, before), (end, after) = _both_ends(measured[chosen.score])
    (_, whole), (last, left) = _both_ends(measured[chosen.beside])
    from_ = "the source" if begin == 0 else f"step {begin}"
    verb = "falls" if left < whole else "rises"
    return (
        f"{chosen.score} calls step {end} better than {from_} ({short(before)} → {short(after)}), while "
        f"{axis_title(chosen.beside, {})} {verb} from {short(whole)} to {short(left)} (step {last})."
    )


def _both_ends(values: Mapping[int, float | None]) -> tuple[tuple[int, float], tuple[int, float]]:
    """The first and the last step that have a value."""
    known = [(step, value) for step, value in sorted(values.items()) if value is not None]
    return known[0], known[-1]


def _change(given: ReportInput, metric: str, values: Mapping[int, float | None]) -> str:
    """`brisque goes from 34.1 (source) to −9.8 (step 20), which it calls better.`."""
    if sum(value is not None for value in values.values()) < 2:
        return ""
    (first, before), (last, after) = _both_ends(values)
    sign = {"↑": 1, "↓": -1}.get(better(metric, given.facts), 0) * (after - before)
    facts = facts_of_series(metric, given.facts)
    alone = facts is not None and facts.kind == "no-reference"
    rating = ", which it calls better" if alone else ", which is better"
    judgement = rating if sign > 0 else ", which is worse" if sign < 0 else ""
    begin = "the source" if first == 0 else f"step {first}"
    name = axis_title(metric, {})
    return f"{name} goes from {short(before)} ({begin}) to {short(after)} (step {last}){judgement}."


def _frame(
    given: ReportInput,
    chosen: Disagreement,
    step: Row,
    measured: Mapping[str, Mapping[int, float | None]],
    pictures: Mapping[str, str],
) -> Row:
    return {
        "step": step["index"],
        "picture": pictures.get(step["image"] or ""),
        "link": viewer_link(chosen.editor, chosen.case, step["index"]),
        "values": [
            f"{metric} {short(values[step['index']])}"
            for metric, values in measured.items()
            if values.get(step["index"]) is not None
        ],
    }


def _shown(page: Page) -> dict[str, Any] | None:
    """The figure of the chain that is shown first."""
    chosen = choose_trace(page.given, page.hero)
    pictures = page.thumbnails.make(trace_images(page.given, chosen), square=HERO_SIDE)
    return trace_section(page, chosen, pictures)


def _models() -> dict[str, Any]:
    """The chart that the page's script fills with the numbers of the chosen chain: alone or last, and above another."""
    return {
        name: TraceChart("metric", {0: 0.0, 1: 1.0}, [0, 1], 1, Style(0, ""), "", axis=name == "last").packed()
        for name in ("first", "last")
    }


def _context(page: Page) -> dict[str, Any] | None:
    trace = _shown(page) if page.given.decay is not None else None
    return trace and {"trace": trace}


TRACE = TemplateSection("trace", "Score and image", "trace_section.html", _context)
TRACES = PageBeside(
    "score-traces",
    "traces.html",
    "score traces",
    Markup("Scores and images of any chain"),
    "decay",
    lambda page: {"trace": _shown(page), "steps": list(STEPS), "models": _models()},
)
