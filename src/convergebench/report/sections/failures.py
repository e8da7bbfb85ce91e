"""How it fails: shares of each failure with their intervals, and a gallery of the crops that show it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from convergebench.failures.base import LEVELS
from convergebench.report.chains import by_chain, viewer_link
from convergebench.report.input import ReportInput, Row, rows
from convergebench.report.sections.page import MOST_DRAWN, Page
from convergebench.report.variant import POOLED, ordered
from convergebench.report.wording import count, interval, number, percent
from convergebench.store.labels import source_crop

MOST_CARDS = 8
"""Crops of one failure by one editor; the table `labels` has all."""
MOST_PANELS = 64
"""Variants in the switch; the long table has all."""
MOST_LINES = 400
"""Rows of the long table."""
CROP_SIDE = 320
"""Pixels of a crop's long side on the page."""
LEVEL_WORDS = {
    "sub-object": "in parts of things",
    "object": "in things",
    "image": "in the whole image",
    "noise": "as noise over all of it",
}


def failures_section(page: Page) -> dict[str, Any] | None:
    """Panels of shares, one per variant, the pooled one first where the analysis pools; and who agrees with whom."""
    given = page.given
    if given.replicate is None:
        return None
    frame = given.replicate.failures
    labels = ordered(frame["pair"].to_list())
    labels.sort(key=lambda label: label != POOLED)
    return {
        "panels": [_panel(page, rows(frame, pair=label), label) for label in labels[:MOST_PANELS]],
        "agreement": [_agreed(row, _titles(given)) for row in rows(given.replicate.agreement)],
    }


def _panel(page: Page, part: list[Row], pair: str) -> Row:
    """One variant's shares: failures down, editors across."""
    cells = {(row["mode"], row["editor"]): row for row in part}
    editors = [editor for editor in page.order if any(row["editor"] == editor for row in part)]
    lines = [
        {**mode, "cells": [_share(cells.get((mode["mode"], editor))) for editor in editors[:MOST_DRAWN]]}
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


def _place(level: str) -> int:
    known: tuple[str, ...] = LEVELS
    return known.index(level) if level in known else len(known)


def _modes(part: list[Row]) -> list[Row]:
    """Each failure once, by level, the most frequent of a level first."""
    seen: dict[str, int] = defaultdict(int)
    named: dict[str, Row] = {}
    for row in part:
        seen[row["mode"]] += row["seen"] or 0
        named.setdefault(
            row["mode"], {"mode": row["mode"], "level": row["level"], "title": row["title"] or row["mode"]}
        )
    return sorted(named.values(), key=lambda one: (_place(one["level"]), -seen[one["mode"]], one["mode"]))


def _titles(given: ReportInput) -> dict[str, str]:
    """Mode → its heading, as far as any table knows it."""
    assert given.replicate is not None
    known = [*rows(given.replicate.failures), *rows(given.replicate.labels)]
    return {row["mode"]: row["title"] or row["mode"] for row in known}


def _share(row: Row | None) -> Row:
    if row is None or not row["chains"]:
        return {
            "text": "not examined",
            "interval": "",
            "says": "",
            "shade": None,
            "seen": 0,
            "undecided": 0,
            "first": "",
        }
    undecided = row["undecided"] or 0
    first = f", from step {number(row['first_step'], 0)} (median)" if row["first_step"] is not None else ""
    says = f"seen in {row['seen']} of {count(row['chains'], 'chain')}{first}; {undecided} could not be told; "
    return {
        "text": percent(row["share"]) if row["share"] is not None else "cannot tell",
        "interval": _percents(row["low"], row["high"]),
        "says": says + f"said by: {row['source_of'] or 'nobody'}",
        "shade": None if row["share"] is None else round(row["share"], 3),
        "seen": row["seen"] or 0,
        "undecided": undecided,
        "first": number(row["first_step"], 0) if row["first_step"] is not None else "",
    }


def _percents(low: float | None, high: float | None) -> str:
    return interval(100 * low, 100 * high, 0) + " %" if low is not None and high is not None else ""


def _agreed(row: Row, titles: Mapping[str, str]) -> Row:
    return {
        **row,
        "title": titles.get(row["mode"], row["mode"]),
        "kappa_text": number(row["kappa"], 2),
        "precision_text": percent(row["precision"]),
        "recall_text": percent(row["recall"]),
        "step_text": number(row["step_difference"], 1),
    }


def shares_table(page: Page) -> dict[str, Any]:
    """Every share there is, by editor, variant and failure, as the gallery's page lists them."""
    assert page.given.replicate is not None
    every = [row for row in rows(page.given.replicate.failures) if row["seen"] or row["undecided"]]
    every.sort(key=lambda row: (_place(row["level"]), row["mode"], row["pair"] != POOLED, -(row["share"] or 0.0)))
    lines = [{**row, "title": row["title"] or row["mode"], **_share(row)} for row in every[:MOST_LINES]]
    return {"rows": lines, "more": max(0, len(every) - MOST_LINES)}


def gallery(page: Page, crops: Mapping[str, str], thumbs: Mapping[str, str]) -> list[Row]:
    """One block per failure, by level: its rule, and cards with the crops, the surest of each editor first."""
    given = page.given
    assert given.replicate is not None
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows(given.replicate.labels):
        if row["present"] and row["editor"] in page.style:
            found[row["mode"]].append(row)
    pictures = {key: {step["index"]: step["image"] for step in walked} for key, walked in by_chain(given.steps).items()}
    blocks = []
    for mode, labels in found.items():
        kept = _surest(labels)
        first = labels[0]
        blocks.append(
            {
                "mode": mode,
                "level": first["level"],
                "title": first["title"] or mode,
                "rule": _sentence(next((row["rule"] for row in labels if row["rule"]), "")),
                "cards": [_card(page, row, crops, _beside(row, pictures, thumbs)) for row in kept],
                "left": len(labels) - len(kept),
                "all": len(labels),
            }
        )
    return sorted(blocks, key=lambda block: (_place(block["level"]), -block["all"], block["mode"]))


def _sentence(rule: str) -> str:
    """The rule with a capital and a full stop."""
    return rule[:1].upper() + rule[1:] + ("" if rule.endswith(".") else ".") if rule else ""


def kept_labels(given: ReportInput) -> list[Row]:
    """The labels whose crops the gallery shows."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows(given.replicate.labels) if given.replicate else []:
        if row["present"]:
            found[row["mode"]].append(row)
    return [row for labels in found.values() for row in _surest(labels)]


def _surest(labels: list[Row]) -> list[Row]:
    """So many of each editor, of different images as far as they go; people's first, then by confidence."""
    order = sorted(labels, key=lambda row: (row["source"] != "person", -(row["confidence"] or 0.0), row["case"]))
    again: dict[tuple[str, str], int] = defaultdict(int)
    turns = []
    for place, row in enumerate(order):
        again[row["editor"], row["source_image"]] += 1
        turns.append((again[row["editor"], row["source_image"]], place, row))
    kept: dict[str, int] = defaultdict(int)
    found = []
    for _, _, row in sorted(turns, key=lambda turn: turn[:2]):  # another image tells more than the same one again
        kept[row["editor"]] += 1
        if kept[row["editor"]] <= MOST_CARDS:
            found.append(row)
    return found


def _beside(row: Row, pictures: Mapping[tuple[str, str], Mapping[int, str]], thumbs: Mapping[str, str]) -> list[str]:
    """Where there is no crop: the source and the step that shows it, small."""
    walked = pictures.get((row["editor"], row["case"]), {})
    shown = row["shown"] if row["shown"] is not None else row["step"]
    return [thumbs[image] for image in (walked.get(0), walked.get(shown)) if image and image in thumbs]


def _crops(row: Row, crops: Mapping[str, str]) -> list[str]:
    """The crop of the source, where there is one, and the crop that shows the failure."""
    evidence = row["evidence"]
    found = [crops.get(source_crop(evidence)), crops.get(evidence)] if evidence else []
    return [name for name in found if name]


def _card(page: Page, row: Row, crops: Mapping[str, str], beside: list[str]) -> Row:
    shown = row["shown"] if row["shown"] is not None else row["step"]
    until = f"–{row['last']}" if row["last"] is not None and row["last"] != row["step"] else ""
    return {
        **row,
        "pictures": _crops(row, crops) or beside,
        "cropped": bool(_crops(row, crops)),
        "style": page.style[row["editor"]],
        "when": "" if row["step"] is None else f"step {row['step']}{until}" if until else f"from step {row['step']}",
        "shown_at": shown,
        "sure": number(row["confidence"], 2) if row["confidence"] is not None else "",
        "link": viewer_link(row["editor"], row["case"], shown),
    }
