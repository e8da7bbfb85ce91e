"""Heatmaps: images down, metrics across; white cells are scores that fell as they should, blue ones did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from convergebench.analysis.audit.audit_data import CELL
from convergebench.analysis.audit.counts import audit_counts, failed_counts, worse_pictures
from convergebench.report.audit.numbers import decided
from convergebench.report.audit.page import EVERY, AuditPage
from convergebench.report.charts.heatmap import HeatCell, HeatChart
from convergebench.report.input import Row, rows
from convergebench.report.wording import MISSING, count, middle, number

MOST_CELLS = 6000
"""Most cells of the panel of all editors; with more it shows counts per editor instead of images."""

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FailureGrid:
    """The rows behind the panels."""

    page: AuditPage
    cells: dict[Key, Row]
    gaps: dict[Key, dict[int, Row]]
    lines: list[Key]
    """(run, editor, source, pair), grouped by run and editor."""
    several_runs: bool
    several_pairs: bool


def failure_grid(page: AuditPage) -> FailureGrid:
    """Cells and gaps by (run, editor, source, pair, metric)."""
    audit = page.given.audit
    cells = {(*(row[key] for key in CELL), row["metric"]): row for row in rows(audit.cells)}
    gaps: dict[Key, dict[int, Row]] = {}
    for row in rows(audit.gaps):
        gaps.setdefault((*(row[key] for key in CELL), row["metric"]), {})[row["at"]] = row
    found = audit.cells.select(CELL).unique(maintain_order=True).rows()
    order = {editor: place for place, editor in enumerate(page.editors)}
    lines = sorted(found, key=lambda line: (order.get(line[1], 0), line[0]))
    return FailureGrid(
        page, cells, gaps, lines, len({line[0] for line in lines}) > 1, len({line[3] for line in lines}) > 1
    )


def heat_views(page: AuditPage) -> list[tuple[str, int | None]]:
    """(label, gap) of the switch; None is the sum over the gaps."""
    asked = len(page.gaps)
    return [(f"all gaps (0–{asked})", None), *((f"Δ{at}", at) for at in page.gaps)]


def heat_panels(page: AuditPage) -> list[Row]:
    """A panel per view and choice of editors, ordered by view; all editors together come first."""
    grid = failure_grid(page)
    if not grid.lines:
        return []
    return [_panel(grid, gap, editor) for _, gap in heat_views(page) for editor in editor_choices(page)]


def editor_choices(page: AuditPage) -> list[str]:
    """All editors together, then each; a single editor needs no choice."""
    seen = set(page.given.audit.cells["editor"].to_list())
    mine = [editor for editor in page.editors if editor in seen]
    return [EVERY, *mine] if len(mine) > 1 else [EVERY]


def _panel(grid: FailureGrid, gap: int | None, editor: str) -> Row:
    page = grid.page
    lines = [line for line in grid.lines if editor in (EVERY, line[1])]
    counts: dict[str, tuple[int, int]] = {}
    for (who, metric), (failed, known) in failed_counts(page.given.audit, gap).items():
        if editor in (EVERY, who):
            before = counts.get(metric, (0, 0))
            counts[metric] = (before[0] + failed, before[1] + known)
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
        "columns": [_column(page, metric, counts, len(lines)) for metric in page.names],
    }


def _column(page: AuditPage, metric: str, counts: Mapping[str, tuple[int, int]], lines: int) -> Row:
    """The head of a column and the count at its foot."""
    failed, known = counts.get(metric, (0, 0))
    head = {"title": page.title(metric), "anchor": page.anchor(metric)}
    return {**head, "failed": failed, "of": known, "white": failed == 0 and known == lines}


def heat_chart(grid: FailureGrid, lines: Sequence[Key], gap: int | None, most: int | None = None) -> HeatChart:
    """The cells of these images for print, the first `most` of them."""
    page, kept = grid.page, lines[:most]
    asked = len(page.gaps) if gap is None else 1
    several = len({line[1] for line in kept}) > 1
    names = [
        " · ".join([run] * grid.several_runs + [editor] * several + [source] + [pair] * grid.several_pairs)
        for run, editor, source, pair in kept
    ]
    cells = [[_cell(grid, (*line, metric), gap) for metric in page.names] for line in kept]
    shades = [
        [
            HeatCell(one["text"] + one["mark"], None if one["level"] is None else one["level"] / max(1, asked))
            for one in row
        ]
        for row in cells
    ]
    title = f"gaps that fail, of {asked}" if gap is None else f"Δ{gap}: blue fails, white is right"
    marks = "".join(one["mark"] for row in cells for one in row)
    title += "; ° a gap of exactly 0" * ("°" in marks) + "; * a gap is missing" * ("*" in marks)
    title += f" (the first {len(kept)} of {len(lines)} images)" if len(kept) < len(lines) else ""
    heads = [page.title(metric) for metric in page.names]
    return HeatChart(title, heads, [middle(name, 40) for name in names], shades, dense=True)


def _failures(grid: FailureGrid, key: Key, gap: int | None) -> int | None:
    """How many gaps of a cell fail; None where it is unknown."""
    if gap is None:
        cell = grid.cells.get(key)
        return None if cell is None or not cell["known"] else int(cell["failures"] or 0)
    found = grid.gaps.get(key, {}).get(gap)
    return None if found is None or found["failed"] is None else int(found["failed"])


def _cell(grid: FailureGrid, key: Key, gap: int | None) -> Row:
    """Text, level (0 is white, None hatched) and tooltip of a cell; `*` marks one that lacks a gap."""
    seen = grid.gaps.get(key, {})
    failures = _failures(grid, key, gap)
    steps = grid.page.gaps if gap is None else (gap,)
    says = ", ".join(_says(at, seen.get(at)) for at in steps)
    zero = any(seen[at]["zero"] for at in steps if at in seen)
    if failures is None:
        return {"text": MISSING, "level": None, "says": says, "mark": ""}
    lacks_gap = gap is None and grid.cells[key]["known"] < grid.cells[key]["asked"]
    text = str(failures) if gap is None else number(seen[gap]["gap"], 1)
    return {"text": text, "level": failures, "says": says, "mark": ("°" if zero else "") + ("*" if lacks_gap else "")}


def _says(at: int, row: Row | None) -> str:
    if row is None or row["gap"] is None:
        return f"Δ{at} missing"
    sign = "+" if row["gap"] > 0 else ""
    return f"Δ{at} {sign}{number(row['gap'], 2)}" + (" exactly 0" if row["zero"] else "")


def _overview(page: AuditPage) -> list[Row]:
    """Per editor the number of images that fail, where there are too many images for one panel."""
    found = {(row["editor"], row["metric"]): row for row in rows(page.given.audit.failures)}
    return [
        {"editor": editor, "cells": [_count(found.get((editor, metric))) for metric in page.names]}
        for editor in page.editors
        if any((editor, metric) in found for metric in page.names)
    ]


def _count(row: Row | None) -> Row:
    if row is None or row["share"] is None:
        return {"text": MISSING, "shade": None, "says": "nothing known"}
    says = f"{row['n_failed']} of {count(decided(row), 'picture')} fail, {row['n_missing']} unknown (score missing)"
    return {"text": f"{row['n_failed']}/{decided(row)}", "shade": round(row["share"], 2), "says": says}


def white_sentence(page: AuditPage) -> str:
    """Whether any metric was right on every image."""
    audited = page.audited
    if not audited:
        return "No metric has been scored yet."
    white = [row["title"] or row["metric"] for row in audited if row["white"]]
    short = [row["title"] or row["metric"] for row in audited if not row["white"] and not row["n_failed"]]
    named = f" ({_listed(white)})" if white else ""
    if not white and not short:
        sentence = (
            "The metric misses damage on some image."
            if len(audited) == 1
            else f"Every one of the {len(audited)} metrics misses damage on some image."
        )
    else:
        verb = "catches" if len(white) == 1 else "catch"
        sentence = f"{len(white)} of {count(len(audited), 'metric')} {verb} damage on every image{named}."
    if short:
        sentence += (
            f" {_listed(short)} {'has' if len(short) == 1 else 'have'} no failure but lack{'s' * (len(short) == 1)} "
        )
        sentence += "some scores, so this is not proven."
    return sentence


NOT_MEASURED = "It was not measured whether later images are worse; copies of copies seldom get better."


def worse_sentence(page: AuditPage) -> str:
    """How many later pictures are worse: only there is a metric wrong to rate them better."""
    found = worse_pictures(page.given.audit, page.given.given)
    if found is None:
        return NOT_MEASURED
    if found.worse == found.pictures:
        return (
            f"Every later image is farther from its source than the baseline ({found.metric}: "
            f"{count(found.worse, 'image')}), so every gap should be negative."
        )
    return (
        f"{found.worse} of {count(found.pictures, 'later image')} are farther from their source than the baseline "
        f"({found.metric}); there a gap should be negative. The others may be no worse, but they are counted too."
    )


def editor_sentences(page: AuditPage) -> list[str]:
    """Which metrics are right on every image of one editor but not on all editors."""
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
                f"{page.title(metric)} misses nothing on {_listed(right)} but fails on "
                f"{worst['n_failed']} of {decided(worst)} of {worst['editor']}."
            )
    return found


def _listed(names: Sequence[str], most: int = 6) -> str:
    """`a, b and c`; after the sixth only the number of the others."""
    kept = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return kept[0] if len(kept) == 1 else ", ".join(kept[:-1]) + f" and {kept[-1]}"


def heat_section(page: AuditPage) -> dict[str, Any]:
    """The texts around the panels."""
    counts = audit_counts(page.given.audit)
    return {
        "views": [label for label, _ in heat_views(page)],
        "editors": editor_choices(page),
        "sentence": white_sentence(page),
        "worse": worse_sentence(page),
        "more": editor_sentences(page)[:4],
        "zero": counts.zero,
        "missing": counts.missing,
    }
