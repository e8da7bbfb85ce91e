"""Tables 2 to 5 of the literature on restoration, from a run's own numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from convergebench.analysis.restoration.paper import METRICS
from convergebench.analysis.restoration.result import INPUT, RestorationAnalysis
from convergebench.report.booktabs import BoldCell, table
from convergebench.report.input import ReportInput, Row, rows
from convergebench.report.sections.restoration.found import (
    NO_RESTORATION,
    by_key,
    metric_head,
    metrics_of,
    numbers_of,
    value_cell,
)
from convergebench.report.wording import number, p_value

Lines = list[list[str]]


def restoration_latex(given: ReportInput) -> dict[str, str]:
    """File name → table; nothing for another study, and no table without rows."""
    found = given.result(RestorationAnalysis)
    if found is None:
        return {}
    made = {
        "restoration_prompts": _prompts(given, found) if found.prompt_results.height else "",
        "restoration_stability": _stability(given, found) if found.stability.height else "",
        "restoration_categories": _categories(given, found) if found.category_results.height else "",
        "restoration_methods": _methods(given, found) if found.method_results.height else "",
    }
    return {name: content for name, content in made.items() if content}


def _heads(given: ReportInput, found: RestorationAnalysis, frame: pl.DataFrame) -> list[Row]:
    return [metric_head(name, given) for name in metrics_of(found, frame)]


def _titles(heads: Sequence[Row]) -> list[str]:
    return [f"{METRICS.get(head['name'], head['name'])} {head['better']}".strip() for head in heads]


def _cell(row: Row | None, head: Row) -> str:
    cell = value_cell(row, head["digits"])
    return BoldCell(cell["text"]) if cell["best"] else str(cell["text"])


def _called(given: ReportInput, editor: str) -> str:
    return NO_RESTORATION if editor == INPUT else given.marked(editor)


def _counted(frame: pl.DataFrame, heads: Sequence[Row]) -> str:
    """`n = 12 (PSNR), 20 (PIQE) pictures; 0 (PSNR), 1 (PIQE) missing`."""
    parts = []
    for column in ("n_cases", "n_missing"):
        own = [
            f"{numbers_of(rows(frame, metric=head['name']), column)} ({METRICS.get(head['name'], head['name'])})"
            for head in heads
        ]
        parts.append(", ".join(own))
    return f"n = {parts[0]} pictures; {parts[1]} missing"


def _prompts(given: ReportInput, found: RestorationAnalysis) -> str:
    frame = found.prompt_results
    heads = _heads(given, found, frame)
    cells = by_key(frame, "editor", "row", "metric")
    editors = list(dict.fromkeys(frame["editor"]))
    body: Lines = []
    for editor in editors:
        body += [[]] if body else []
        levels = {row["row"]: row["level"] for row in rows(frame, editor=editor)}
        for name in levels:
            who = [given.marked(editor)] if len(editors) > 1 else []
            body.append([*who, name, *(_cell(cells.get((editor, name, head["name"])), head) for head in heads)])
    first = ["editor", "prompt"] if len(editors) > 1 else ["prompt"]
    whose = "" if len(editors) > 1 else f" of {given.marked(editors[0])}"
    caption = f"Results{whose} by prompt, with the means of groups and lengths. {_counted(frame, heads)}."
    return table("restoration_prompts", "l" * len(first) + "r" * len(heads), [*first, *_titles(heads)], body, caption)


def _stability(given: ReportInput, found: RestorationAnalysis) -> str:
    frame = found.stability
    heads = _heads(given, found, frame)
    cells = by_key(frame, "editor", "prompt", "metric")
    body: Lines = []
    for editor, prompt in dict.fromkeys(zip(frame["editor"], frame["prompt"], strict=True)):
        own = [cells.get((editor, prompt, head["name"])) for head in heads]
        name = given.marked(editor)
        body += [[]] if body and body[-1] and body[-1][0] != name else []
        statistics = [_statistic(row) for row in own]
        body.append([name, prompt, *(text for pair in statistics for text in pair)])
    titles = [title for head in heads for title in (f"{METRICS.get(head['name'], head['name'])} χ²", "p (Holm)")]
    caption = (
        f"Friedman's test over {numbers_of(rows(frame), 'repeats')} repeats: statistic, p, and p after Holm's "
        f"correction; bold: p below 0.05 before it. {_counted(frame, heads)}."
    )
    return table("restoration_stability", "ll" + "rr" * len(heads), ["editor", "prompt", *titles], body, caption)


def _statistic(row: Row | None) -> tuple[str, str]:
    if row is None or row["statistic"] is None:
        return "–", ""
    text, p = number(row["statistic"], 3), f"{p_value(row['p'])} ({p_value(row['p_holm'])})"
    return (BoldCell(text), BoldCell(p)) if row["significant"] else (text, p)


def _categories(given: ReportInput, found: RestorationAnalysis) -> str:
    frame = found.category_results
    heads = _heads(given, found, frame)
    cells = by_key(frame, "category", "editor", "metric")
    body: Lines = []
    for category, title in dict.fromkeys(zip(frame["category"], frame["title"], strict=True)):
        body += [[]] if body else []
        for editor in _methods_in(frame):
            own = [cells.get((category, editor, head["name"])) for head in heads]
            if any(own):
                texts = (_cell(row, head) for row, head in zip(own, heads, strict=True))
                body.append([title or category, _called(given, editor), *texts])
    caption = (
        f"Categories by method under prompt {found.unified}; a slash where there is no clean picture. Bold: the best "
        f"method, if it is better than the input. {_counted(frame, heads)} per category and method."
    )
    return table(
        "restoration_categories", "ll" + "r" * len(heads), ["category", "method", *_titles(heads)], body, caption
    )


def _methods(given: ReportInput, found: RestorationAnalysis) -> str:
    frame = found.method_results
    heads = _heads(given, found, frame)
    cells = by_key(frame, "editor", "metric")
    body: Lines = [
        [_called(given, editor), *(_cell(cells.get((editor, head["name"])), head) for head in heads)]
        for editor in _methods_in(frame)
    ]
    caption = (
        f"Methods over all pictures under prompt {found.unified}. Bold: the best, if it is better than the input. "
        f"{_counted(frame, heads)}."
    )
    return table("restoration_methods", "l" + "r" * len(heads), ["method", *_titles(heads)], body, caption)


def _methods_in(frame: pl.DataFrame) -> Iterator[str]:
    """The input first, then the methods as the frame has them."""
    names = dict.fromkeys(frame["editor"])
    yield from (name for name in names if name == INPUT)
    yield from (name for name in names if name != INPUT)
