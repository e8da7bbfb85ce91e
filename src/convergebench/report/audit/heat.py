"""Heatmaps: images down, metrics across; white is a score that fell as it should, blue one that did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from convergebench.report.audit.numbers import decided
from convergebench.report.audit.page import EVERY, AuditPage
from convergebench.report.audit.worse import worse_sentence
from convergebench.report.input import Row, rows
from convergebench.report.wording import MISSING, count, number

MOST_CELLS = 6000
"""Cells of one panel; where all editors have more, their panel gives counts per editor and the images are one click
further."""
CELL = ("run", "editor", "source", "pair")

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """What the panels are filled from."""

    page: AuditPage
    cells: dict[Key, Row]
    gaps: dict[Key, dict[int, Row]]
    lines: list[Key]
    """(run, editor, source, pair), grouped by run and editor."""
    several_runs: bool
    several_pairs: bool


def open_grid(page: AuditPage) -> Grid:
    """Cells and gaps by (run, editor, source, pair, metric)."""
    audit = page.given.audit
    cells = {(*(row[key] for key in CELL), row["metric"]): row for row in rows(audit.cells)}
    gaps: dict[Key, dict[int, Row]] = {}
    for row in rows(audit.gaps):
        gaps.setdefault((*(row[key] for key in CELL), row["metric"]), {})[row["at"]] = row
    found = audit.cells.select(CELL).unique(maintain_order=True).rows()
    order = {editor: place for place, editor in enumerate(page.editors)}
    lines = sorted(found, key=lambda line: (order.get(line[1], 0), line[0]))
    return Grid(page, cells, gaps, lines, len({line[0] for line in lines}) > 1, len({line[3] for line in lines}) > 1)


def heat_views(page: AuditPage) -> list[tuple[str, int | None]]:
    """(words, gap) of the switch; None is the sum over the gaps."""
    asked = len(page.gaps)
    return [(f"all gaps (0–{asked})", None), *((f"Δ{at}", at) for at in page.gaps)]


def heat_panels(page: AuditPage) -> list[Row]:
    """A panel per view and choice of editors, views outermost; all editors together come first."""
    grid = open_grid(page)
    if not grid.lines:
        return []
    return [_panel(grid, gap, editor) for _, gap in heat_views(page) for editor in editor_choices(page)]


def editor_choices(page: AuditPage) -> list[str]:
    """All together, then each; one editor alone needs no choice."""
    seen = set(page.given.audit.cells["editor"].to_list())
    mine = [editor for editor in page.editors if editor in seen]
    return [EVERY, *mine] if len(mine) > 1 else [EVERY]


def _panel(grid: Grid, gap: int | None, editor: str) -> Row:
    page = grid.page
    lines = [line for line in grid.lines if editor in (EVERY, line[1])]
    wide = editor == EVERY and len(lines) * len(page.names) > MOST_CELLS
    blocks: list[Row] = []
    for line in [] if wide else lines:
        if not blocks or blocks[-1]["key"] != line[:2]:
            blocks.append(
                {"key": line[:2], "editor": line[1], "run": line[0] if grid.several_runs else "", "lines": []}
            )
        cells = [_cell(grid, (*line, metric), gap) for metric in page.names]
        blocks[-1]["lines"].append({"name": line[2], "pair": line[3] if grid.several_pairs else "", "cells": cells})
    return {
        "name": f"{gap or EVERY} {editor}",
        "gap": gap,
        "most": len(page.gaps) if gap is None else 1,
        "blocks": blocks,
        "headed": len(blocks) > 1,
        "counts": _overview(page) if wide else [],
        "columns": [_column(grid, lines, metric, gap) for metric in page.names],
    }


def _column(grid: Grid, lines: Sequence[Key], metric: str, gap: int | None) -> Row:
    """The head of a column and the count at its foot."""
    failed = known = 0
    for line in lines:
        value = _failures(grid, (*line, metric), gap)
        failed += bool(value)
        known += bool(value) or (value is not None and (gap is not None or not _short(grid, (*line, metric))))
    return {
        "title": grid.page.title(metric),
        "anchor": grid.page.anchor(metric),
        "failed": failed,
        "of": known,
        "white": failed == 0 and known == len(lines),
    }


def _failures(grid: Grid, key: Key, gap: int | None) -> int | None:
    """How many gaps of a cell fail; None where nothing is known."""
    if gap is None:
        cell = grid.cells.get(key)
        return None if cell is None or not cell["known"] else int(cell["failures"] or 0)
    found = grid.gaps.get(key, {}).get(gap)
    return None if found is None or found["failed"] is None else int(found["failed"])


def _short(grid: Grid, key: Key) -> bool:
    """Whether a cell misses a gap: one that has not failed may still."""
    return bool(grid.cells[key]["known"] < grid.cells[key]["asked"])


def _cell(grid: Grid, key: Key, gap: int | None) -> Row:
    """What a cell shows and says: `level` 0 is white, None hatched."""
    seen = grid.gaps.get(key, {})
    failures = _failures(grid, key, gap)
    wanted = grid.page.gaps if gap is None else (gap,)
    says = ", ".join(_says(at, seen.get(at)) for at in wanted)
    zero = any(seen[at]["zero"] for at in wanted if at in seen)
    if failures is None:
        return {"text": MISSING, "level": None, "says": says, "mark": ""}
    if gap is None:
        text = str(failures)
        short = _short(grid, key)
    else:
        text, short = number(seen[gap]["gap"], 1), False
    return {"text": text, "level": failures, "says": says, "mark": ("°" if zero else "") + ("*" if short else "")}


def _says(at: int, row: Row | None) -> str:
    if row is None or row["gap"] is None:
        return f"Δ{at} missing"
    sign = "+" if row["gap"] > 0 else ""
    return f"Δ{at} {sign}{number(row['gap'], 2)}" + (" exactly 0" if row["zero"] else "")


def _overview(page: AuditPage) -> list[Row]:
    """Per editor the images that fail, where the images themselves are too many for one panel."""
    found = {(row["editor"], row["metric"]): row for row in rows(page.given.audit.failures)}
    return [
        {"editor": editor, "cells": [_count(found.get((editor, metric))) for metric in page.names]}
        for editor in page.editors
        if any((editor, metric) in found for metric in page.names)
    ]


def _count(row: Row | None) -> Row:
    if row is None or row["share"] is None:
        return {"text": MISSING, "shade": None, "says": "nothing known"}
    says = f"{row['n_failed']} of {count(decided(row), 'picture')} fail, {row['n_missing']} unknown for want of a score"
    return {"text": f"{row['n_failed']}/{decided(row)}", "shade": round(row["share"], 2), "says": says}


def white_sentence(page: AuditPage) -> str:
    """Whether any metric was right on every image, as the data has it."""
    audited = page.audited
    if not audited:
        return "No metric was scored, so there is no column to look at."
    white = [row["title"] or row["metric"] for row in audited if row["white"]]
    short = [row["title"] or row["metric"] for row in audited if not row["white"] and not row["n_failed"]]
    named = f" ({_listed(white)})" if white else ""
    if not white and not short:
        told = (
            "The only column is not fully white: the metric fails on at least one picture."
            if len(audited) == 1
            else f"No column is fully white: every one of the {len(audited)} metrics fails on at least one picture."
        )
    else:
        told = (
            f"{len(white)} of {count(len(audited), 'column')} {'is' if len(white) == 1 else 'are'} fully white{named}."
        )
    if short:
        told += (
            f" {_listed(short)} {'has' if len(short) == 1 else 'have'} no failure but miss{'es' * (len(short) == 1)} "
        )
        told += "scores, so nothing is proven."
    return told


def editor_sentences(page: AuditPage) -> list[str]:
    """Which metrics are right on every image of one editor, though not on all: trust does not carry over."""
    if len(page.editors) < 2:
        return []
    white = {row["metric"] for row in page.audited if row["white"]}
    found = []
    frame: pl.DataFrame = page.given.audit.failures
    for metric in page.names:
        mine = [row for row in rows(frame, metric=metric) if row["editor"] != EVERY]
        right = [row["editor"] for row in mine if row["white"]]
        wrong = [row for row in mine if row["n_failed"]]
        if right and wrong and metric not in white:
            worst = max(wrong, key=lambda row: (row["share"] or 0.0, row["n_failed"]))
            found.append(
                f"{page.title(metric)} is right on every image of {_listed(right)}, yet fails on "
                f"{worst['n_failed']} of {decided(worst)} of {worst['editor']}."
            )
    return found


def _listed(names: Sequence[str], most: int = 6) -> str:
    """`a, b and c`; beyond the sixth only how many more."""
    kept = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return kept[0] if len(kept) == 1 else ", ".join(kept[:-1]) + f" and {kept[-1]}"


def heat_section(page: AuditPage) -> dict[str, Any]:
    """The words around the panels."""
    return {
        "views": [words for words, _ in heat_views(page)],
        "editors": editor_choices(page),
        "sentence": white_sentence(page),
        "worse": worse_sentence(page),
        "more": editor_sentences(page)[:4],
        "zero": sum(row["n_zero"] or 0 for row in page.audited),
        "missing": sum(row["n_missing"] or 0 for row in page.audited),
    }
