"""The gallery of failures: crops of each, and every share in one table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from convergebench.analysis.decay_result import DecayAnalysis
from convergebench.report.chains import viewer_link
from convergebench.report.input import ReportInput, Row, by_chain, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import PageBeside
from convergebench.report.sections.failures import level_place, share_cell
from convergebench.report.variant import POOLED
from convergebench.report.wording import count, number, percent
from convergebench.store.labels import source_crop

MOST_CARDS = 8
"""Most crops of one failure by one editor; the table `labels` has all."""
MOST_LINES = 400
"""Most rows of the long table."""
CROP_SIDE = 320
"""Pixels of a crop's long side on the page."""


def shares_table(found: DecayAnalysis) -> dict[str, Any]:
    """Every share, by editor, variant and failure, for the gallery's page."""
    every = [row for row in rows(found.failures) if row["seen"] or row["undecided"]]
    every.sort(key=lambda row: (level_place(row["level"]), row["mode"], row["pair"] != POOLED, -(row["share"] or 0.0)))
    lines = [{**row, "title": row["title"] or row["mode"], **share_cell(row)} for row in every[:MOST_LINES]]
    return {"rows": lines, "more": max(0, len(every) - MOST_LINES)}


def gallery(page: Page, crops: Mapping[str, str], thumbs: Mapping[str, str]) -> list[Row]:
    """One block per failure, by level: its rule, and cards with crops, by confidence for each editor."""
    given = page.given
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows(given.decay.labels) if given.decay else ():
        if row["present"] and row["editor"] in page.style:
            found[row["mode"]].append(row)
    chains = by_chain(given.steps)
    pictures = {key: {step["index"]: step["image"] for step in steps} for key, steps in chains.items()}
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
    return sorted(blocks, key=lambda block: (level_place(block["level"]), -block["all"], block["mode"]))


def _sentence(rule: str) -> str:
    """The rule with a capital and a full stop."""
    return rule[:1].upper() + rule[1:] + ("" if rule.endswith(".") else ".") if rule else ""


def kept_labels(given: ReportInput) -> list[Row]:
    """The labels whose crops the gallery shows."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows(given.decay.labels) if given.decay else []:
        if row["present"]:
            found[row["mode"]].append(row)
    return [row for labels in found.values() for row in _surest(labels)]


def _surest(labels: list[Row]) -> list[Row]:
    """At most `MOST_CARDS` per editor, of different images first; people's first, then by confidence."""
    order = sorted(labels, key=lambda row: (row["source"] != "person", -(row["confidence"] or 0.0), row["case"]))
    again: dict[tuple[str, str], int] = defaultdict(int)
    turns = []
    for place, row in enumerate(order):
        again[row["editor"], row["source_image"]] += 1
        turns.append((again[row["editor"], row["source_image"]], place, row))
    kept: dict[str, int] = defaultdict(int)
    found = []
    for _, _, row in sorted(turns, key=lambda turn: turn[:2]):  # other images before the same one again
        kept[row["editor"]] += 1
        if kept[row["editor"]] <= MOST_CARDS:
            found.append(row)
    return found


def _beside(row: Row, pictures: Mapping[tuple[str, str], Mapping[int, str]], thumbs: Mapping[str, str]) -> list[str]:
    """Thumbnails of the source and of the step that shows the failure, for a label without a crop."""
    chain_steps = pictures.get((row["editor"], row["case"]), {})
    shown = row["shown"] if row["shown"] is not None else row["step"]
    return [thumbs[image] for image in (chain_steps.get(0), chain_steps.get(shown)) if image and image in thumbs]


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


def _context(page: Page) -> dict[str, Any]:
    kept = [row["evidence"] for row in kept_labels(page.given) if row["evidence"]]
    crops = page.thumbnails.make([*kept, *map(source_crop, kept)], crop=CROP_SIDE)
    blocks = gallery(page, crops, page.thumbs)
    assert page.given.decay is not None  # the page is only made where it is there
    shares = shares_table(page.given.decay)
    return {"blocks": blocks, "shares": shares, "verdict": _verdict(shares["rows"], blocks)}


def _verdict(shares: list[Row], blocks: list[Row]) -> str:
    """The finding of the gallery: the failure seen in the greatest share of chains, or that none was seen."""
    seen = [row for row in shares if row["share"] is not None and row["seen"]]
    if not seen:
        return (
            f"{count(sum(block['all'] for block in blocks), 'failure')} labelled." if blocks else "No failure was seen."
        )
    top = max(seen, key=lambda row: (row["pair"] == "all", row["share"], row["seen"]))
    under = "" if top["pair"] == "all" else f" under {top['pair']}"
    interval = f" (95%: {top['interval']})" if top["interval"] else ""
    return (
        f"{top['title']} is the most frequent failure of {top['editor']}: in {percent(top['share'])}{interval} "
        f"of {count(top['chains'], 'chain')}{under}."
    )


GALLERY = PageBeside(
    "failure-gallery", "failures.html", "failures", "Every kind of failure, with crops", "decay", _context
)
