"""Accepted and rejected edits with their pictures, chosen by a rule and not by eye."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from convergebench.edits.taxonomy import categories
from convergebench.report.chains import viewer_link
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.factory.found import criteria_text, drawn_editors, found_in, type_name
from convergebench.report.wording import number

SIDE = 320
"""Pixels of a picture's long side."""


def examples_section(page: Page) -> dict[str, Any] | None:
    """Per editor and category: the accepted and the rejected attempt of median score."""
    found = found_in(page)
    if found is None:
        return None
    chosen = []
    first = found.attempts.filter(pl.col("turn") == 1, pl.col("score").is_not_null())
    for editor in drawn_editors(page, found):
        for category in categories():
            own = first.filter(pl.col("editor") == editor, pl.col("category") == category)
            pair = [median_row(rows(own.filter(pl.col("accepted") == accepted))) for accepted in (True, False)]
            if any(pair):
                chosen.append((editor, category, pair))
    if not chosen:
        return None
    instructions = {(row["editor"], row["case"]): row for row in rows(found.edits.filter(pl.col("turn") == 1))}
    pictures = _pictures(page, [row for _, _, pair in chosen for row in pair if row])
    return {
        "groups": [
            {
                "editor": editor,
                "category": category,
                "cards": [_card(row, instructions[editor, row["case"]], pictures) if row else None for row in pair],
            }
            for editor, category, pair in chosen
        ],
        "several": len({editor for editor, _, _ in chosen}) > 1,
        "threshold": found.threshold,
    }


def median_row(attempts: Sequence[Row]) -> Row | None:
    """The attempt of median score (of two, the lower), ties broken by name; None for none."""
    ordered = sorted(attempts, key=lambda row: (row["score"], row["case"], row["attempt"]))
    return ordered[(len(ordered) - 1) // 2] if ordered else None


Pictures = dict[tuple[str, str, int], str]
"""Editor, case and step → a small copy of the picture."""


def _pictures(page: Page, attempts: Sequence[Row]) -> Pictures:
    wanted = {(row["editor"], row["case"], at) for row in attempts for at in (0, row["position"])}
    columns = ("editor", "case", "index", "image")
    steps = page.given.steps.select(columns).iter_rows() if page.given.steps.height else ()
    images = {(editor, case, at): image for editor, case, at, image in steps if (editor, case, at) in wanted and image}
    small = page.thumbnails.make(images.values(), crop=SIDE)
    return {key: small[image] for key, image in images.items() if image in small}


def _card(row: Row, edit: Row, pictures: Pictures) -> Row:
    key = (row["editor"], row["case"])
    return {
        **row,
        "type": type_name(row["edit_type"]),
        "before": pictures.get((*key, 0)),
        "after": pictures.get((*key, row["position"])),
        "long": edit["long"],
        "short": edit["short"],
        "criteria": criteria_text(row),
        "score_text": number(row["score"], 2),
        "link": viewer_link(*key, row["position"]),
    }


EXAMPLES = TemplateSection("factory-examples", "Examples", "factory_examples.html", examples_section, key="examples")
