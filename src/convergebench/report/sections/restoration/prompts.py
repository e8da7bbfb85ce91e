"""Every prompt by every metric, with the means of groups and lengths, beside published numbers."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.restoration.found import (
    found_in,
    has_intervals,
    methods_of,
    metric_head,
    metrics_of,
    numbers_of,
    prompt_facts,
    value_cell,
)
from convergebench.report.wording import number


def prompts_section(page: Page) -> dict[str, Any] | None:
    """A panel per editor that reads words, and the words themselves."""
    found = found_in(page)
    if found is None or not found.prompt_results.height:
        return None
    panels = [_panel(page, found, editor) for editor in methods_of(page, found.prompt_results)]
    panels = [panel for panel in panels if panel["prompts"] > 1]
    if not panels:
        return None
    shown = {line["row"] for panel in panels for line in panel["lines"]}
    return {
        "panels": Panels("restoration-prompt", "restoration_prompts_panel.html", panels),
        "words": [
            {
                "prompt": name,
                "group": facts.get("group") or "",
                "words": " / ".join(map(str, facts.get("instructions") or ())),
            }
            for name, facts in prompt_facts(page).items()
            if name in shown
        ],
    }


def _panel(page: Page, found: RestorationAnalysis, editor: str) -> Row:
    own = rows(found.prompt_results, editor=editor)
    heads = [metric_head(name, page.given) for name in metrics_of(found, found.prompt_results)]
    cells = {(row["row"], row["metric"]): row for row in own}
    levels = {row["row"]: row["level"] for row in own}
    paper = any(row["paper"] is not None for row in own)
    lines = [
        {
            "row": name,
            "level": level,
            "cells": [_cell(cells.get((name, head["name"])), head["digits"]) for head in heads],
        }
        for name, level in levels.items()
    ]
    return {
        "name": editor,
        "heads": heads,
        "lines": lines,
        "prompts": sum(1 for line in lines if line["level"] == "prompt"),
        "paper": paper,
        "few": not has_intervals(own),
        "n": [numbers_of((row for row in own if row["metric"] == head["name"]), "n_cases") for head in heads],
        "missing": [numbers_of((row for row in own if row["metric"] == head["name"]), "n_missing") for head in heads],
    }


def _cell(row: Row | None, places: int) -> Row:
    published = row["paper"] if row else None
    return {**value_cell(row, places), "paper": "" if published is None else number(published, places)}


PROMPTS = TemplateSection("restoration-prompts", "Prompts", "restoration_prompts.html", prompts_section, key="prompts")
