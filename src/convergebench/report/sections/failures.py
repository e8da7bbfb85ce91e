"""How it fails: shares of each failure with their intervals."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from convergebench.failures.base import LEVELS
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import MOST_DRAWN, Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.variant import POOLED, ordered
from convergebench.report.wording import number, percent, percents

MOST_PANELS = 64
"""Variants in the switch; the long table has all."""


def failures_section(page: Page) -> dict[str, Any] | None:
    """Panels of shares, one per variant, the pooled one first; and the agreement of rules and people."""
    found = page.given.decay
    if found is None:
        return None
    labels = ordered(found.failures["pair"].to_list())
    labels.sort(key=lambda label: label != POOLED)
    titles = {row["mode"]: row["title"] or row["mode"] for row in [*rows(found.failures), *rows(found.labels)]}
    panels = [_panel(page, rows(found.failures, pair=label), label) for label in labels[:MOST_PANELS]]
    return {
        "panels": Panels("failure", "failures_panel.html", panels),
        "agreement": [{**row, "title": titles.get(row["mode"], row["mode"])} for row in rows(found.agreement)],
    }


def _panel(page: Page, part: list[Row], pair: str) -> Row:
    """One variant's shares: failures down, editors across."""
    cells = {(row["mode"], row["editor"]): row for row in part}
    editors = [editor for editor in page.order if any(row["editor"] == editor for row in part)]
    lines = [
        {**mode, "cells": [share_cell(cells.get((mode["mode"], editor))) for editor in editors[:MOST_DRAWN]]}
        for mode in _modes(part)
    ]
    return {
        "name": "all variants" if pair == POOLED else pair,
        "editors": editors[:MOST_DRAWN],
        "more": max(0, len(editors) - MOST_DRAWN),
        "rows": [line for line in lines if any(cell["seen"] or cell["undecided"] for cell in line["cells"])],
        "never": [line["title"] for line in lines if not any(c["seen"] or c["undecided"] for c in line["cells"])],
        "examined": max((row["chains"] or 0 for row in part), default=0),
    }


def level_place(level: str) -> int:
    """The position of a level in the order of levels; those of plug-ins come last."""
    known: tuple[str, ...] = LEVELS
    return known.index(level) if level in known else len(known)


def _modes(part: list[Row]) -> list[Row]:
    """Each failure mode once, by level, the most frequent of a level first."""
    seen: dict[str, int] = defaultdict(int)
    named: dict[str, Row] = {}
    for row in part:
        seen[row["mode"]] += row["seen"] or 0
        named.setdefault(
            row["mode"], {"mode": row["mode"], "level": row["level"], "title": row["title"] or row["mode"]}
        )
    return sorted(named.values(), key=lambda one: (level_place(one["level"]), -seen[one["mode"]], one["mode"]))


def share_cell(row: Row | None) -> Row:
    """Text, tooltip and shade of a cell with a share of chains and its interval."""
    if row is None or not row["chains"]:
        none = dict.fromkeys(("interval", "says", "first"), "")
        return {**none, "text": "not examined", "shade": None, "seen": 0, "undecided": 0}
    undecided = row["undecided"] or 0
    says = [f"{row['seen']} of {row['chains']}"]
    says += [f"step {number(row['first_step'], 0)}"] if row["first_step"] is not None else []
    says += [f"{undecided} undecided"] if undecided else []
    says += [str(row["source_of"])] if row["source_of"] else []
    return {
        "text": percent(row["share"]) if row["share"] is not None else "cannot tell",
        "interval": percents(row["low"], row["high"]),
        "says": ", ".join(says),
        "shade": None if row["share"] is None else round(row["share"], 3),
        "seen": row["seen"] or 0,
        "undecided": undecided,
        "first": number(row["first_step"], 0) if row["first_step"] is not None else "",
    }


FAILURES = TemplateSection("failures", "Failures", "failures_section.html", failures_section, key="failures")
