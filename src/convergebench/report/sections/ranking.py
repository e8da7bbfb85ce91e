"""The ranking: dots, table, and which differences are more than chance."""

from __future__ import annotations

from typing import Any

from convergebench.report.charts.ranking import Dot, draw_ranking
from convergebench.report.charts.svg import both
from convergebench.report.input import Row, rows
from convergebench.report.sections.page import MOST_DRAWN, Page
from convergebench.report.wording import interval, no_interval, no_score, number, p_value, percent, rounds_interval


def ranking_section(page: Page) -> dict[str, Any]:
    """Chart, table rows and the pairwise matrix."""
    ranked = page.given.ranked
    own = [row for row in ranked if row["rank"] is not None]
    dots = [
        Dot(
            row["editor"],
            page.style[row["editor"]],
            row["score"],
            row["low"],
            row["high"],
            _why(row),
            row["rank"] is None,
        )
        for row in ranked[: 2 * MOST_DRAWN]
    ]
    label = "Ranking by convergence score. " + "; ".join(f"{d.name} {number(d.value, 1)}" for d in dots)
    title = "convergence score C (→ better)"
    best = {key: _best(own, key) for key in ("score", "quality", "semantic")} if len(own) > 1 else {}
    meaning = page.given.facts.get(page.given.analysis.settings.semantic or "")
    return {
        "chart": both(lambda width: draw_ranking(dots, width, title=title, label=label))
        if any(dot.value is not None for dot in dots)
        else None,
        "rows": [_row(row, best) for row in ranked],
        "ranked": len(own),
        "pairs": _matrix(page),
        "places": _places(page, own),
        "whiskers": any(row["low"] is not None for row in ranked),
        "few": [row for row in ranked if row["values"]],
        "formula": page.given.analysis.formula,
        "meaning": meaning.summary if meaning else "",
        "references": [row["editor"] for row in ranked if row["rank"] is None and row["reference"]],
        "uncovered": [row for row in ranked if row["rank"] is None and not row["reference"]],
        "left_out": sum(row["n_left_out"] or 0 for row in own),
        "cases": max((row["n_cases"] or 0 for row in own or ranked), default=0),
        "sources": max((row["n_sources"] or 0 for row in own or ranked), default=0),
        "censored": any(str(row["half_life"] or "").startswith(">") for row in ranked),
    }


def _why(row: Row) -> str:
    return f"no score: {no_score(row['n_cases'])}"


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
        "score_text": number(row["score"], 1),
        "score_interval": interval(row["low"], row["high"], 1) or no_interval(row["n_sources"]),
        **{f"{key}_text": percent(row[key]) for key in ("done", "undone", "usable_share", "coverage")},
        "closeness_text": number(row["closeness"], 1),
        "quality_text": number(row["quality"]),
        "semantic_text": number(row["semantic"]),
        "life": row["half_life"] or "not measured",
        "life_interval": life,
        "mean_text": number(row["restricted_mean"], 1),
        "best": {key for key, value in best.items() if value is not None and row[key] == value},
    }


def _places(page: Page, ranked: list[Row]) -> list[Row]:
    """Per ranked editor, in how many of the resamples it has each place."""
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
    """Rows beat columns; a cell holds the difference in score, marked when it survives Holm's correction."""
    found = {(row["better"], row["worse"]): row for row in rows(page.given.analysis.pairwise)}
    if not found:
        return None
    named = [editor for editor in page.drawn if any(editor in pair for pair in found)]
    cells = [[_cell(found.get((a, b)) or _turned(found.get((b, a)))) for b in named[1:]] for a in named[:-1]]
    for place, line in enumerate(cells):
        line[:place] = [None] * place
    total = sum(bool(row["significant"]) for row in found.values())
    return {"names": named, "cells": cells, "significant": total, "all": len(found)}


def _turned(row: Row | None) -> Row | None:
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
        "says": f"difference {number(row['difference'], 2)} ({interval(row['low'], row['high'], 2)}), "
        f"p = {p_value(row['p'])}, after Holm {p_value(row['p_holm'])}, {row['n_cases']} cases, "
        f"{row['n_sources']} sources, up to n = {row['rounds']}",
    }
