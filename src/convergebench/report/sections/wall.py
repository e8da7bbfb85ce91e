"""The decay wall: source images down, steps across, one view for each editor, variant and run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from convergebench.report.chains import viewer_link
from convergebench.report.environment import Panels
from convergebench.report.hero import PLAIN, STEPS, shown_rounds
from convergebench.report.input import ReportInput, Row, by_chain, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import PageBeside
from convergebench.report.variant import instruction_text, ordered
from convergebench.report.wording import better, count, number

MOST_IMAGES = 48
"""Most rows of one view."""
SIDE = 224
"""Side of a picture in pixels; the middle of the image, the same in every cell."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class WallView:
    """One wall. `lines` hold a source's name and its cells; `hidden` counts the images left out."""

    editor: str
    pair: str
    run: int
    steps: list[int]
    lines: list[Row]
    hidden: int

    @property
    def images(self) -> list[str]:
        """Every picture of the wall."""
        return [cell["image"] for line in self.lines for cell in line["cells"] if cell["image"]]


def wall_views(page: Page) -> list[WallView]:
    """Every view; the first is the plain copy by the last-ranked editor."""
    given = page.given
    if given.chains.height == 0 or given.steps.height == 0:
        return []
    steps, values = by_chain(given.steps), _values(given)
    marks, onsets = failure_marks(given), _onsets(given)
    grouped: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for chain in rows(given.chains):
        grouped[chain["editor"], chain["pair"], chain["replicate"]].append(chain)
    pairs = ordered(pair for _, pair, _ in grouped)
    keys = [key for key in grouped if key[0] in page.order]
    keys.sort(key=lambda key: (-page.order.index(key[0]), pairs.index(key[1]), key[2]))
    found = []
    for editor, pair, run in keys:
        chains = grouped[editor, pair, run]
        shown = shown_rounds(max(chain["planned"] or 0 for chain in chains), STEPS)
        lines = []
        for chain in chains[:MOST_IMAGES]:
            key = (editor, chain["case"])
            pictures = {step["index"]: step for step in steps.get(key, [])}
            cells = [
                _cell(chain, at, pictures.get(at), values.get((*key, at)))
                | _events(marks.get(key, []), onsets.get(key), after=before, until=at)
                for before, at in zip([-1, *shown], shown, strict=False)
            ]
            lines.append({"source": chain["source"], "kind": chain["kind"], "cells": cells})
        found.append(WallView(editor, pair, run, shown, lines, max(0, len(chains) - MOST_IMAGES)))
    return found


def wall_section(page: Page, views: Sequence[WallView]) -> dict[str, Any]:
    """The texts around the walls."""
    given = page.given
    pairs = given.manifest.get("pairs")
    labels = ordered(view.pair for view in views)
    return {
        "choices": [[view.editor, view.pair, view.run] for view in views],
        "instructions": {label: instruction_text(pairs, label) for label in labels} if isinstance(pairs, dict) else {},
        "metric": f"{given.headline_metric} {better(given.headline_metric, given.facts)}".strip(),
        "onset_metric": given.onset_metric,
        "images": len({line["source"] for view in views for line in view.lines}),
        "last": max((view.steps[-1] for view in views), default=0),
        "plain": PLAIN in labels,
    }


def failure_marks(given: ReportInput) -> dict[Key, list[Row]]:
    """The failures seen in each chain, each once, by step."""
    labels = rows(given.decay.labels) if given.decay else []
    seen = [row for row in labels if row["present"] and row["step"] is not None]
    found: dict[Key, dict[str, Row]] = defaultdict(dict)
    for row in sorted(seen, key=lambda row: (row["step"], row["mode"])):
        found[row["editor"], row["case"]].setdefault(row["mode"], row)
    return {key: list(marks.values()) for key, marks in found.items()}


def _onsets(given: ReportInput) -> dict[Key, int]:
    frame = given.decay.onsets if given.decay else pl.DataFrame()
    measured = rows(frame, metric=given.onset_metric)
    return {(row["editor"], row["case"]): row["onset"] for row in measured if row["onset"] is not None}


def _values(given: ReportInput) -> dict[tuple[str, str, int], tuple[float | None, str]]:
    """(editor, case, step) → value and status of the headline metric."""
    measured = given.measurements
    if measured.height == 0:
        return {}
    part = measured.filter(pl.col("metric") == given.headline_metric)
    return {
        (editor, case, step): (value, status)
        for editor, case, step, value, status in part.select("editor", "case", "step", "value", "status").iter_rows()
    }


def _cell(chain: Row, at: int, step: Row | None, measured: tuple[float | None, str] | None) -> Row:
    image = step["image"] if step else None
    value, status = measured or (None, "")
    why = f"missing: {status}" if measured else "not compared at this step"
    return {
        "step": at,
        "image": image,
        "link": viewer_link(chain["editor"], chain["case"], at) if image else None,
        "value": number(value, 2) if at else "",
        "why": why if at and value is None else "",
        "gone": "" if image else _why_not(chain, at, step),
    }


def _why_not(chain: Row, at: int, step: Row | None) -> str:
    """Why there is no picture here."""
    if step is not None:
        return f"{step['status']}: {step['detail']}" if step["detail"] else str(step["status"])
    if at > (chain["planned"] or 0):
        return f"only {count(chain['planned'] or 0, 'step')} asked for"
    return f"{chain['status']} after {chain['rounds']}" if chain["status"] != "finished" else "no picture"


def _events(marks: Sequence[Row], onset: int | None, *, after: int, until: int) -> Row:
    """Failures first seen, and the onset of the loss, since the previous picture of the row."""
    return {
        "marks": [
            {
                "level": row["level"],
                "title": row["title"] or row["mode"],
                "step": row["step"],
                "says": f"{row['title'] or row['mode']} from step {row['step']} on, says the {row['source']}"
                + (f": {row['detail']}" if row["detail"] else ""),
            }
            for row in marks
            if after < row["step"] <= until
        ],
        "onset": onset if onset is not None and after < onset <= until else None,
    }


def _context(page: Page) -> dict[str, Any]:
    views = wall_views(page)
    pictures = page.thumbnails.make([image for view in views for image in view.images], square=SIDE)
    named = [{"name": view.pair, "view": view} for view in views]
    panels = Panels("wall", "wall_panel.html", named, {"pictures": pictures})
    return {"wall": wall_section(page, views), "panels": panels}


WALL = PageBeside(
    "decay-wall", "wall.html", "decay wall", "The decay wall: every image, step by step", "decay", _context
)
