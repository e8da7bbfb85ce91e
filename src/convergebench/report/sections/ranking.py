"""The ranking: chart, table, and which differences are significant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convergebench.analysis.counts import ranking_counts
from convergebench.analysis.sequential.result import UntilAnalysis
from convergebench.report.charts.dots import Dot, DotChart
from convergebench.report.charts.series import drawable
from convergebench.report.input import Row, rows
from convergebench.report.page import MOST_DRAWN, Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.wording import (
    count,
    interval,
    no_interval,
    no_score,
    number,
    p_value,
    percent,
    rounds_interval,
)


def ranking_section(page: Page) -> dict[str, Any]:
    """Chart, table rows and the pairwise matrix."""
    ranked = page.given.ranked
    own = [row for row in ranked if row["rank"] is not None]
    counts = ranking_counts(page.given.analysis.ranking)
    chart = ranking_chart(page, ranked[: 2 * MOST_DRAWN])
    best = {key: _best(own, key) for key in ("score", "quality", "semantic")} if len(own) > 1 else {}
    meaning = page.given.facts.get(page.given.analysis.settings.semantic or "")
    return {
        "chart": chart if any(dot.value is not None for dot in chart.dots) else None,
        "rows": [_row(row, best) for row in ranked],
        "ranked": counts.ranked,
        "pairs": _matrix(page),
        "places": _places(page, own),
        "whiskers": counts.intervals,
        "until": page.given.result(UntilAnalysis) is not None,
        "few": [row for row in ranked if row["values"]],
        "formula": page.given.analysis.formula,
        "meaning": meaning.summary if meaning else "",
        "references": [row["editor"] for row in ranked if row["rank"] is None and row["reference"]],
        "uncovered": [row for row in ranked if row["rank"] is None and not row["reference"]],
        "left_out": counts.left_out if counts.ranked else 0,
        "cases": counts.cases,
        "sources": counts.sources,
    }


def ranking_chart(page: Page, ranked: list[Row]) -> DotChart:
    """The score of each row with its interval."""
    dots = [
        Dot(
            row["editor"],
            page.style[row["editor"]],
            row["score"],
            row["low"],
            row["high"],
            note=f"no score: {no_score(row['n_cases'])}",
            reference=row["rank"] is None,
            marked=page.given.marked(row["editor"], 30),
        )
        for row in ranked
    ]
    sure = any(drawable(dot.low) for dot in dots)
    none = "no intervals" if page.given.result(UntilAnalysis) else "too few images for intervals"
    whiskers = f"{page.given.analysis.settings.confidence:.0%} intervals" if sure else none
    label = "Ranking by convergence score. " + "; ".join(f"{dot.name} {number(dot.value, 1)}" for dot in dots)
    return DotChart(dots, "convergence score C (→ better)", label, whiskers)


def _figures(page: Page) -> Iterator[tuple[str, DotChart]]:
    scored = [row for row in page.given.ranked if drawable(row["score"])]
    if page.given.ranked:
        yield "ranking", ranking_chart(page, scored)


def _best(ranked: list[Row], key: str) -> float | None:
    return max((row[key] for row in ranked if row[key] is not None), default=None)


def _row(row: Row, best: dict[str, float | None]) -> Row:
    life = rounds_interval(row["half_life_low"], row["half_life_high"])
    if not life and row["half_life"] and not row["half_life"].startswith(">"):
        life = no_interval(row["n_sources"])
    places = rounds_interval(row["rank_low"], row["rank_high"])
    return {
        **row,
        "places": places if places and places != str(row["rank"]) else "",
        "life": row["half_life"] or "not measured",
        "life_interval": life,
        "best": {key for key, value in best.items() if value is not None and row[key] == value},
    }


def _places(page: Page, ranked: list[Row]) -> list[Row]:
    """Per ranked editor, the share of resamples in which it has each place."""
    shares = {(row["editor"], row["place"]): row["share"] for row in rows(page.given.analysis.places)}
    if not shares:
        return []
    return [
        {
            "editor": row["editor"],
            "cells": [percent(shares.get((row["editor"], n), 0.0)) for n in range(1, len(ranked) + 1)],
        }
        for row in ranked
    ]


def _matrix(page: Page) -> dict[str, Any] | None:
    """Differences in score of row over column, marked if significant after Holm's correction."""
    found = {(row["better"], row["worse"]): row for row in rows(page.given.analysis.pairwise)}
    if not found:
        return None
    named = [editor for editor in page.drawn if any(editor in pair for pair in found)]
    cells = [[_cell(found.get((a, b)) or _negated(found.get((b, a)))) for b in named[1:]] for a in named[:-1]]
    for place, line in enumerate(cells):
        line[:place] = [None] * place
    total = sum(bool(row["significant"]) for row in found.values())
    return {"names": named, "cells": cells, "significant": total, "all": len(found)}


def _negated(row: Row | None) -> Row | None:
    if row is None:
        return None
    low, high = row["low"], row["high"]
    minus = {"low": None if high is None else -high, "high": None if low is None else -low}
    return {**row, **minus, "difference": None if row["difference"] is None else -row["difference"]}


def _cell(row: Row | None) -> Row | None:
    if row is None:
        return None
    return {
        "text": number(row["difference"], 1),
        "interval": interval(row["low"], row["high"], 1),
        "p": p_value(row["p_holm"]),
        "significant": bool(row["significant"]),
        "n": f"{row['n_cases']} ({count(row['n_sources'], 'image')})",
    }


RANKING = TemplateSection("ranking", "Ranking", "ranking.html", ranking_section, _figures, key="ranking")
