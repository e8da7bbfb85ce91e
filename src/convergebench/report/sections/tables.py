"""Plain tables of a study's own analyses that no section draws."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.tables import result_frames
from convergebench.report.wording import short

MOST_ROWS = 200
"""Most rows of one table; the file has all."""


def _context(page: Page) -> dict[str, Any] | None:
    drawn = {name for section in page.sections for name in getattr(section, "draws", ())}
    tables = [
        _table(name, frame)
        for analysis, result in page.given.results.items()
        if analysis not in BUILT_IN
        for name, frame in result_frames(result).items()
        if name not in drawn and frame.width
    ]
    return {"tables": tables} if tables else None


BUILT_IN = ("comparison", "decay", "factory", "restoration", "ratings", "until")
"""Analyses that have sections of their own."""


def _table(name: str, frame: pl.DataFrame) -> dict[str, Any]:
    return {
        "name": name,
        "columns": [(column, kind.is_numeric()) for column, kind in frame.schema.items()],
        "rows": [[_text(value) for value in row] for row in frame.head(MOST_ROWS).iter_rows()],
        "more": max(0, frame.height - MOST_ROWS),
    }


def _text(value: object) -> str:
    if isinstance(value, float):
        return short(value) if math.isfinite(value) else str(value)
    return "–" if value is None else str(value)


TABLES = TemplateSection("tables", "Tables", "tables.html", _context)
