"""What people say: their answers and means, preferences in pairs, agreement, and which raters count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convergebench.analysis.ratings.agreement import INTERVAL_ALPHA, LEFT, ORDINAL_ALPHA, WITH_FLAGGED, WITHIN
from convergebench.analysis.ratings.result import RatingsAnalysis
from convergebench.analysis.ratings.scales import PREFERENCE, SCALES
from convergebench.report.charts.base import Chart
from convergebench.report.charts.differences import Difference, DifferenceChart, VariantLine
from convergebench.report.charts.rated import RatedChart, RatedRow
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import MOST_DRAWN, Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.wording import interval, number, p_value, percent

ASKED = {
    "score": "How well is the goal met? 0 worst, 5 best",
    "overall": "Overall quality, 0 worst, 4 best",
    "semantics": "True to what is shown, 0 worst, 4 best",
    "detail": "Detail: −3 lost, 0 right, +3 invented",
    "sharpness": "Sharpness: −3 blurred, 0 right, +3 over-sharp",
}
MEASURES = {
    INTERVAL_ALPHA: "α of the values",
    ORDINAL_ALPHA: "α of their order",
    WITHIN: "α within pictures",
    WITH_FLAGGED: "α with the raters left out",
    LEFT: "left picture preferred",
}


def ratings_section(page: Page) -> dict[str, Any] | None:
    """Panels of the questions, preferences, agreement and raters; None where the run was not analysed for it."""
    found = page.given.result(RatingsAnalysis)
    if found is None:
        return None
    questions = [question for question in SCALES if rows(found.rating_means, question=question)]
    return {
        "headline": list(found.headline),
        "panels": Panels("ratings", "ratings_panel.html", [_panel(page, found, question) for question in questions]),
        "preferences": _preferences(page, found),
        "agreement": _agreement(found),
        "raters": _raters(found),
        "run": page.given.run.name,
    }


def _panel(page: Page, found: RatingsAnalysis, question: str) -> Row:
    own = rows(found.rating_means, question=question)
    return {
        "name": question,
        "asked": ASKED[question],
        "chart": rated_chart(page, found, question),
        "rows": own,
        "distance": SCALES[question].zero_is_best,
        "all": any(row["n_left_out"] for row in own),
        "unranked": [row["editor"] for row in own if row["rank"] is None],
        "contrasts": _matrix(found, question, [row["editor"] for row in own], 2),
    }


def rated_chart(page: Page, found: RatingsAnalysis, question: str) -> RatedChart:
    """Answers and means of the methods, best first."""
    scale = SCALES[question]
    drawn = []
    for row in rows(found.rating_means, question=question)[:MOST_DRAWN]:
        given = rows(found.rating_distribution, question=question, editor=row["editor"])
        answers = tuple((one["value"], one["share"], one["n"]) for one in given)
        drawn.append(RatedRow(row["editor"], page.style[row["editor"]], answers, row["mean"], row["low"], row["high"]))
    means = "; ".join(f"{row.name} {number(row.mean, 2)}" for row in drawn)
    best = 0 if scale.zero_is_best else None
    title = f"{question} ({'0 is best' if scale.zero_is_best else '→ better'})"
    return RatedChart(drawn, scale.low, scale.high, title, f"{ASKED[question]}. Means: {means}", best)


def strength_chart(page: Page, found: RatingsAnalysis) -> DifferenceChart:
    """Bradley–Terry strengths, the strongest first."""
    lines = []
    for row in rows(found.preferences)[:MOST_DRAWN]:
        says = f"{row['editor']}: {number(row['strength'], 2)} ({interval(row['low'], row['high'], 2)})"
        dot = Difference(row["editor"], page.style[row["editor"]], row["strength"], row["low"], row["high"], says)
        share = f"wins {percent(row['wins'] / row['n'])} of {row['n']}" if row["n"] else "not compared"
        lines.append(VariantLine(row["editor"], share, ((dot,),)))
    label = "Bradley–Terry strengths: " + "; ".join(
        f"{row['editor']} {number(row['strength'], 2)}" for row in rows(found.preferences)
    )
    return DifferenceChart(lines, ["against the average method"], "strength, log odds", label, 1)


def _preferences(page: Page, found: RatingsAnalysis) -> dict[str, Any] | None:
    own = rows(found.preferences)
    if not own:
        return None
    names = [row["editor"] for row in own]
    cells = {(row["editor"], row["other"]): row for row in rows(found.preference_pairs)}
    placed = any(row["strength"] is not None for row in own)
    return {
        "chart": strength_chart(page, found) if placed else None,
        "rows": own,
        "names": names,
        "cells": [[cells.get((one, other)) for other in names] for one in names],
        "contrasts": _matrix(found, PREFERENCE, names, 2),
        "n": sum(row["n"] for row in own) // 2,
    }


def _matrix(found: RatingsAnalysis, question: str, names: list[str], digits: int) -> dict[str, Any] | None:
    """Differences of row over column."""
    pairs = {(row["better"], row["worse"]): row for row in rows(found.rating_contrasts, question=question)}
    named = [name for name in names if any(name in pair for pair in pairs)]
    if not pairs:
        return None
    cells: list[list[Row | None]] = []
    for place, one in enumerate(named[:-1]):
        below = range(1, place + 1)
        cells.append([*(None for _ in below), *(_cell(pairs, one, other, digits) for other in named[place + 1 :])])
    sure = sum(bool(row["significant"]) for row in pairs.values())
    return {"names": named, "cells": cells, "significant": sure, "all": len(pairs)}


def _cell(pairs: dict[tuple[str, str], Row], one: str, other: str, digits: int) -> Row | None:
    row = pairs.get((one, other)) or pairs.get((other, one))
    if row is None:
        return None
    turned = row["better"] != one
    low, high = row["low"], row["high"]
    if turned and low is not None and high is not None:
        low, high = -high, -low
    return {
        "text": number(-row["difference"] if turned else row["difference"], digits),
        "interval": interval(low, high, digits),
        "p": p_value(row["p_holm"]),
        "significant": bool(row["significant"]),
        "sources": row["n_sources"],
    }


def _agreement(found: RatingsAnalysis) -> dict[str, Any] | None:
    """A line per question, a column per measure."""
    cells = {(row["question"], row["measure"]): row for row in rows(found.rating_agreement)}
    if not cells:
        return None
    measures = [name for name in MEASURES if any(name == measure for _, measure in cells)]
    lines = []
    for question in dict.fromkeys(question for question, _ in cells):
        first = next(row for (of, _), row in cells.items() if of == question)
        lines.append({**first, "cells": [cells.get((question, measure)) for measure in measures]})
    return {"heads": [MEASURES[name] for name in measures], "lines": lines}


def _raters(found: RatingsAnalysis) -> dict[str, Any]:
    """Everybody under a number instead of a name, those left out first."""
    own = [{**row, "number": place} for place, row in enumerate(rows(found.raters), start=1)]
    own.sort(key=lambda row: not row["flagged"])
    columns = ("attention", "repeats", "bias", "left_side", "seconds")
    return {
        "rows": own,
        "flagged": sum(row["flagged"] for row in own),
        **{name: any(row[name] for row in own) for name in columns},
    }


def _figures(page: Page) -> Iterator[tuple[str, Chart]]:
    found = page.given.result(RatingsAnalysis)
    if found is None:
        return
    for question in SCALES:
        if rows(found.rating_means, question=question):
            yield f"ratings-{question}", rated_chart(page, found, question)
    if found.preferences["strength"].count():
        yield "ratings-preference", strength_chart(page, found)


RATINGS = TemplateSection("ratings", "Human ratings", "ratings.html", ratings_section, _figures, key="ratings")
