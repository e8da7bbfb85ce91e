"""Sessions, turn by turn: picture, instruction, score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import polars as pl

from convergebench.analysis.factory.result import FactoryAnalysis
from convergebench.report.chains import viewer_link
from convergebench.report.environment import Panels
from convergebench.report.input import Row, by_chain, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.factory.found import drawn_editors, found_in, type_name

MOST_SESSIONS = 12
"""Most sessions of one editor on the page; the table `sessions` has all."""
SIDE = 320
ENDS = {
    "accepted": "whole",
    "damaged": "stopped by the inspector",
    "discarded": "stopped: no attempt was accepted",
    "unwritten": "stopped: no instruction was written",
}

Item = TypeVar("Item")


def sessions_section(page: Page) -> dict[str, Any] | None:
    """A panel per editor with evenly chosen sessions."""
    found = found_in(page)
    if found is None or not found.sessions.height:
        return None
    steps = by_chain(page.given.steps)
    panels = [_panel(page, found, editor, steps) for editor in drawn_editors(page, found)]
    return {"panels": Panels("factory-sessions", "factory_sessions_panel.html", [one for one in panels if one["all"]])}


def evenly(items: Sequence[Item], most: int) -> list[Item]:
    """At most `most` of the items, evenly spaced, the first included."""
    if len(items) <= most:
        return list(items)
    return [items[place * len(items) // most] for place in range(most)]


def _panel(page: Page, found: FactoryAnalysis, editor: str, steps: dict[tuple[str, str], list[Row]]) -> Row:
    own = rows(found.sessions.filter(pl.col("editor") == editor).sort("case"))
    shown = evenly(own, MOST_SESSIONS)
    edits: dict[str, list[Row]] = {}
    for edit in rows(found.edits.filter(pl.col("editor") == editor).sort("case", "turn")):
        edits.setdefault(edit["case"], []).append(edit)
    images = {
        (row["case"], step["index"]): step["image"]
        for row in shown
        for step in steps.get((editor, row["case"]), [])
        if step["image"]
    }
    wanted = {images.get((row["case"], 0)) for row in shown}
    wanted |= {images.get((row["case"], edit["position"])) for row in shown for edit in edits[row["case"]]}
    small = page.thumbnails.make([image for image in wanted if image], crop=SIDE)
    pictures = {key: small[image] for key, image in images.items() if image in small}
    return {
        "name": editor,
        "all": len(own),
        "sessions": [
            {
                **row,
                "end": ENDS.get(row["ended"], row["ended"]) if not row["whole"] else "whole",
                "source_picture": pictures.get((row["case"], 0)),
                "link": viewer_link(editor, row["case"], 0),
                "turns": [_turn(editor, edit, pictures) for edit in edits[row["case"]]],
            }
            for row in shown
        ],
    }


def _turn(editor: str, edit: Row, pictures: dict[tuple[str, int], str]) -> Row:
    at = edit["position"]
    return {
        **edit,
        "type": type_name(edit["edit_type"]),
        "picture": pictures.get((edit["case"], at)) if at is not None else None,
        "link": viewer_link(editor, edit["case"], at),
    }


SESSIONS = TemplateSection("factory-sessions", "Sessions", "factory_sessions.html", sessions_section, key="sessions")
