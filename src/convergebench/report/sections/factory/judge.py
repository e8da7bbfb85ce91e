"""How the judge scores: histograms, noise, order, replies that could not be read."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.factory.result import FactoryAnalysis
from convergebench.report.charts.histogram import Histogram, HistogramBin
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.factory.found import drawn_editors, found_in
from convergebench.report.wording import number
from convergebench.studies.factory_table import CRITERIA


def judge_section(page: Page) -> dict[str, Any] | None:
    """Histograms per editor with their table, and what is known of the judge's noise and bias."""
    found = found_in(page)
    if found is None:
        return None
    editors = drawn_editors(page, found)
    return {
        "editors": [{"editor": editor, **_drawn(page, found, editor)} for editor in editors],
        "several": len(editors) > 1,
        "threshold": found.threshold,
        "asked": found.judged,
        "noise": rows(found.judge_noise),
        "pairs": rows(found.judge_pairs),
        "replies": rows(found.role_replies),
        "separability": rows(found.separability),
        "features": sorted(rows(found.separability_features), key=lambda row: -abs(row["weight"])),
        "table": _table(found),
    }


def _drawn(page: Page, found: FactoryAnalysis, editor: str) -> Row:
    charts = []
    for of in ("score", *CRITERIA, "attempts"):
        own = rows(found.judge_histograms, editor=editor, of=of)
        counted = of == "attempts"
        bins = [
            HistogramBin(row["low"], row["high"], row["n"], row["accepted"], number(row["low"], 0) if counted else "")
            for row in own
        ]
        whole = sum(one.n for one in bins)
        if not whole:
            continue
        title = "attempts per edit" if counted else of.replace("_", " ")
        rule = (f"accepted above {found.threshold:g}", found.threshold) if of == "score" else None
        label = f"{editor}, {title}: {whole} in all, {sum(one.accepted for one in bins)} accepted"
        charts.append({"title": title, "n": whole, "chart": Histogram(bins, page.style[editor], label, rule)})
    return {"charts": charts}


def _table(found: FactoryAnalysis) -> list[Row]:
    """The bins with something in them."""
    return [
        {**row, "of": row["of"].replace("_", " "), "range": _range(row)}
        for row in rows(found.judge_histograms)
        if row["n"]
    ]


def _range(row: Row) -> str:
    return number(row["low"], 0) if row["of"] == "attempts" else f"{number(row['low'], 2)}–{number(row['high'], 2)}"


JUDGE = TemplateSection("factory-judge", "The judge", "factory_judge.html", judge_section, key="judge")
