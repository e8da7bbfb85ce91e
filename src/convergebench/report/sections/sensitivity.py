"""How much the order depends on analysis choices, and the chance level."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.anchors import ANCHORS, CLOSENESS
from convergebench.analysis.sensitivity import sensitivity_sentence
from convergebench.report.input import ReportInput, Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.wording import better, count, interval, number

FACTORS = {
    "metric": "metric",
    "adherence": "adherence",
    "level": "half-life level",
    "semantic": "measure of meaning",
    "alignment": "alignment",
}
NAMES = {"noise": "pure noise", "grey": "even grey", "other": "another image"}
"""Names of the anchors on the page."""


def sensitivity_section(page: Page) -> dict[str, Any] | None:
    """Both tables with their sentences; None where both are empty."""
    given = page.given
    anchors = anchor_rows(given)
    frame = given.analysis.sensitivity
    few = bool(given.ranked) and sum(row["rank"] is not None for row in given.ranked) < 2
    if not frame.height and not few and not anchors:
        return None
    return {
        "few": few,
        "sentence": sensitivity_sentence(frame, given.unit) if frame.height else None,
        "rows": [_row(row, given) for row in rows(frame)],
        "reported": next((row["order"] for row in rows(frame, chosen=True)), ""),
        "anchors": anchors,
        "heads": [NAMES[name] for name in _shown(given)],
        "chance": chance_sentence(given),
        "intervals": any(row["low"] is not None for row in rows(given.analysis.anchors)),
        "sources": _sources(given),
    }


def chance_sentence(given: ReportInput) -> str | None:
    """The closeness of chance, beside that of the closest editor."""
    found = {row["anchor"]: row["mean"] for row in rows(given.analysis.anchors, metric=CLOSENESS)}
    parts = [f"{NAMES[name]} {number(found[name], 1)}" for name in ANCHORS if found.get(name) is not None]
    if not parts:
        return None
    close = [(row["closeness"], row["editor"]) for row in given.ranked if row["closeness"] is not None]
    best = f"; the closest editor, {max(close)[1]}, has {number(max(close)[0], 1)}" if close else ""
    return f"Chance has this closeness: {', '.join(parts)}{best}."


def anchor_rows(given: ReportInput) -> list[Row]:
    """One row per metric, closeness first: the value of an untouched image, and of each anchor."""
    table = rows(given.analysis.anchors)
    metrics = sorted(dict.fromkeys(row["metric"] for row in table), key=lambda name: name != CLOSENESS)
    by_cell = {(row["metric"], row["anchor"]): row for row in table}
    return [
        {
            "metric": name,
            "arrow": "↑" if name == CLOSENESS else better(name, given.facts),
            "untouched": _untouched(name, given),
            "cells": [_cell(by_cell.get((name, anchor)), _digits(name, given)) for anchor in _shown(given)],
        }
        for name in metrics
    ]


def _sources(given: ReportInput) -> str:
    """`12 source images`, or `6 to 12 source images` where some metrics measured fewer."""
    seen = sorted({row["n_sources"] for row in rows(given.analysis.anchors)})
    fewer = f"{seen[0]} to " if len(seen) > 1 else ""
    return fewer + count(seen[-1], "source image") if seen else ""


def _shown(given: ReportInput) -> list[str]:
    there = {row["anchor"] for row in rows(given.analysis.anchors)}
    return [name for name in ANCHORS if name in there]


def _digits(name: str, given: ReportInput) -> int:
    """Decimals: one for closeness and scales beyond 2, else three."""
    facts = given.facts.get(name)
    return 1 if name == CLOSENESS or (facts is not None and (facts.typical or facts.range)[1] > 2) else 3


def _untouched(name: str, given: ReportInput) -> str:
    facts = given.facts.get(name)
    if name == CLOSENESS:
        return number(100.0, 1)
    if facts is not None and facts.self_value is None and facts.unit == "dB":
        return number(float("inf"))
    return number(facts.self_value if facts is not None else None, _digits(name, given))


def _cell(row: Row | None, digits: int) -> Row:
    if row is None:
        return {"text": number(None), "beside": "not measured"}
    lost = f"{row['n_lost']} of {row['n_sources']} lost" if row["n_lost"] and row["metric"] != CLOSENESS else ""
    if row["mean"] is None:
        return {"text": number(None), "beside": lost or "not measured"}
    ends = interval(row["low"], row["high"], digits)
    return {"text": number(row["mean"], digits), "beside": "; ".join(part for part in (ends, lost) if part)}


def _row(row: Row, given: ReportInput) -> Row:
    verdict = {True: "same", False: "changed", None: "partly tied"}[row["same_order"]] if row["order"] else ""
    return {
        "factor": FACTORS.get(row["factor"], given.unit.many),
        "choice": row["choice"],
        "chosen": row["chosen"],
        "verdict": "as reported" if row["chosen"] else verdict,
        "changed": row["same_order"] is False,
        "order": "" if row["chosen"] or row["same_order"] else row["order"] or "",
        "turned": "" if row["chosen"] or row["changes"] is None else str(row["changes"]),
        "swap": number(row["largest_swap"], 1) if row["changes"] else "",
        "tau": "" if row["chosen"] else number(row["tau"], 2) if row["tau"] is not None else "",
        "cases": "" if row["n_cases"] is None else str(row["n_cases"]),
        "note": row["note"] or "",
    }


SENSITIVITY = TemplateSection("sensitivity", "Settings", "sensitivity.html", sensitivity_section, key="sensitivity")
