"""The audit's tables: recommendations, failures, ranges, content, ranks, determinism, opinions."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.audit.counts import confound_counts
from convergebench.report.audit.charts import ConfoundChart, FailureShare, MetricConfound, ShareChart
from convergebench.report.audit.page import ANSWERS, EVERY, AuditPage
from convergebench.report.input import Row, rows
from convergebench.report.wording import MISSING, count, interval, no_interval, number, percent, percents

MOST_DETAIL = 400
"""Most rows of a detail table; the files have all."""


def with_title(page: AuditPage, row: Row) -> Row:
    """A row with its metric's title and the anchor of its card."""
    return {**row, "title": page.title(row["metric"]), "anchor": page.anchor(row["metric"])}


def advice_section(page: AuditPage) -> dict[str, Any]:
    """Metrics down, purposes across: the answer with its sign and reason; and how many pictures fail."""
    frame = page.given.audit.recommendations
    found = {(row["metric"], row["purpose"]): row for row in rows(frame)}
    purposes = frame["purpose"].unique(maintain_order=True).to_list()
    lines = [
        {
            **with_title(page, row),
            "cells": [answer_cell(found.get((row["metric"], purpose))) for purpose in purposes],
            "of": decided(row),
        }
        for row in page.audited
    ]
    return {"purposes": purposes, "rows": lines}


def answer_cell(row: Row | None) -> Row:
    """One recommendation as it is shown."""
    if row is None:
        return {"answer": "unknown", "sign": ANSWERS["unknown"], "reason": ""}
    return {"answer": row["answer"], "sign": ANSWERS.get(row["answer"], ""), "reason": row["reason"] or ""}


def failure_section(page: AuditPage) -> dict[str, Any]:
    """The chart of shares, and the counts per editor."""
    shares = [_share(row) for row in sorted(page.audited, key=lambda row: (row["share"] is None, row["share"] or 0.0))]
    label = "Share of pictures that fail. " + "; ".join(f"{one.name} {one.counted}" for one in shares)
    cells = {(row["editor"], row["metric"]): row for row in rows(page.given.audit.failures)}
    editors = [editor for editor in page.editors if any((editor, metric) in cells for metric in page.names)]
    table = [
        {**with_title(page, row), "cells": [count_cell(cells.get((editor, row["metric"]))) for editor in editors]}
        for row in page.audited
    ]
    pairs = sorted(rows(page.given.audit.pairs), key=lambda row: (row["p_holm"], -row["difference"]))
    return {
        "chart": ShareChart(shares, label) if shares else None,
        "rings": any(row["n_failed_any"] != row["n_failed"] for row in page.audited),
        "sure": any(row["low"] is not None for row in page.audited),
        "editors": editors if len(editors) > 1 else [],
        "rows": table if len(editors) > 1 else [],
        "pairs": pairs[:MOST_DETAIL],
    }


def decided(row: Row) -> int:
    """Pictures for which it is known whether the metric fails; the basis of the share."""
    return int((row["n_cells"] or 0) - (row["n_missing"] or 0))


def _share(row: Row) -> FailureShare:
    of = decided(row)
    any_run = min(1.0, row["n_failed_any"] / of) if of and row["n_failed_any"] is not None else None
    counted = f"{row['n_failed']} / {of}"
    return FailureShare(row["title"] or row["metric"], row["share"], row["low"], row["high"], any_run, counted)


def count_cell(row: Row | None) -> Row:
    """`3/12` with its interval, for a table of metrics and editors."""
    if row is None or row["share"] is None:
        return {"text": MISSING, "interval": "", "shade": None, "says": ""}
    beside = (("n_missing", "without a score"), ("n_zero", "gaps exactly 0"))
    says = [f"{row['n_failed_any']} in any run"] if row["n_failed_any"] != row["n_failed"] else []
    says += [f"{row[name]} {words}" for name, words in beside if row[name]]
    shown = f"{row['n_failed']}/{decided(row)}"
    band = percents(row["low"], row["high"]) or no_interval(row["n_sources"])
    return {"text": shown, "interval": band, "shade": round(row["share"], 2), "says": ", ".join(says)}


def confound_section(page: AuditPage) -> dict[str, Any]:
    """The effect of content beside that of damage."""
    found = [with_title(page, row) for row in rows(page.given.audit.confound)]
    found.sort(key=lambda row: (row["ratio"] is None, row["ratio"] or 0.0))
    dots = [
        MetricConfound(row["title"], row["spread"], row["mean_gap"], row["ratio"], row["low"], row["high"])
        for row in found
    ]
    drawable = [dot for dot in dots if dot.spread is not None or dot.gap is not None]
    label = "Spread over untouched images beside the drop by damage. "
    label += "; ".join(f"{dot.name} ratio {number(dot.ratio, 2)}" for dot in dots)
    counts = confound_counts(page.given.audit.confound)
    return {
        "chart": ConfoundChart(drawable, label) if drawable else None,
        **counts._asdict(),
        "at": max((row["at"] for row in found if row["at"] is not None), default=None),
        "rows": found,
    }


def range_section(page: AuditPage) -> dict[str, Any]:
    """Scores outside the range that the authors give."""
    ours = {row["metric"] for row in page.metrics if row["range_ours"]}
    found = [
        {
            **with_title(page, row),
            "range": f"{row['range_low']:g} to {row['range_high']:g}",
            "ours": row["metric"] in ours,
            "out": (row["below"] or 0) + (row["above"] or 0),
        }
        for row in rows(page.given.audit.ranges)
    ]
    leaving = [row["title"] for row in found if row["out"]]
    return {"rows": found, "leaving": leaving}


def content_rows(page: AuditPage) -> list[Row]:
    """How adding objects changes the score."""
    return [with_title(page, row) for row in rows(page.given.audit.content)]


def rank_section(page: AuditPage) -> dict[str, Any]:
    """Rank correlations, over all editors and for each."""
    frame = page.given.audit.ranks
    against = frame["against"].unique(maintain_order=True).to_list()
    found = {(row["metric"], row["editor"], row["against"]): row for row in rows(frame)}
    editors = list(dict.fromkeys(row["editor"] for row in rows(frame)))
    pooled = EVERY if EVERY in editors else editors[0] if len(editors) == 1 else None
    lines: list[Row] = []
    detail: list[Row] = []
    for row in page.audited:
        for editor in editors:
            cells = [_rank(found.get((row["metric"], editor, one))) for one in against]
            line = {**with_title(page, row), "editor": editor, "cells": cells}
            (lines if editor == pooled else detail).append(line)
    kept = [line for line in detail if any(cell["n"] for cell in line["cells"])]
    return {"against": against, "rows": lines, "detail": kept[:MOST_DETAIL], "more": max(0, len(kept) - MOST_DETAIL)}


def _rank(row: Row | None) -> Row:
    if row is None or row["rho"] is None:
        why = "" if row is None else f"{row['n_undefined']} undefined"
        chains = 0 if row is None else row["n_chains"]
        return {"text": MISSING, "interval": "", "says": why, "n": chains, "wrong": False}
    says = count(row["n_sources"], "image") + (f", {row['n_undefined']} undefined" if row["n_undefined"] else "")
    found = {"text": number(row["rho"], 2), "interval": interval(row["low"], row["high"], 2), "says": says}
    return {**found, "n": row["n_chains"], "wrong": row["rho"] >= 0}


def repeat_section(page: AuditPage) -> dict[str, Any]:
    """The same picture scored twice: metrics down, checks across, the largest distance in the cell."""
    frame = page.given.audit.repeats
    found = {(row["metric"], row["check"]): row for row in rows(frame)}
    checks = frame["check"].unique(maintain_order=True).to_list()
    names = list(dict.fromkeys(metric for metric, _ in found))
    cells = {name: [_repeat_cell(found.get((name, check))) for check in checks] for name in names}
    return {"checks": checks, "rows": [{**with_title(page, {"metric": name}), "cells": cells[name]} for name in names]}


def _repeat_cell(row: Row | None) -> Row:
    if row is None:
        return {"text": "not checked", "says": "", "known": False, "same": False}
    if row["largest"] is None:
        return {"text": row["status"] or MISSING, "says": f"{row['n']} pictures", "known": False, "same": False}
    says = f"{row['same']} of {row['n']} equal, median {number(row['median'], 4)}; {row['status']}"
    exact = row["n"] == row["same"]
    return {"text": "0" if exact else _fine(row["largest"]), "says": says, "known": True, "same": exact}


def _fine(value: float) -> str:
    """A distance with three digits; a small one is never shown as 0."""
    return "< 0.001" if 0 < value < 0.001 else number(value, 3)


def opinion_rows(page: AuditPage) -> list[Row]:
    """Against people's ratings."""
    return [with_title(page, row) for row in rows(page.given.audit.opinions)]


def first_risk(page: AuditPage, metric: str) -> Row | None:
    """The row of the mildest possible filter at the last gap; of the least demanding one if none is possible."""
    if not page.gaps:
        return None
    found = [row for row in page.of_all(page.given.audit.filter_risk, metric=metric) if row["at"] == max(page.gaps)]
    known = [row for row in found if row["share"] is not None]
    if known:
        return min(known, key=lambda row: float(row["percentile"]))
    return min(found, key=lambda row: int(row["needed"] or 0), default=None)


def few_clean(row: Row) -> str:
    """`12 untouched images, percentile 5 takes 40`: why there is no filter."""
    return f"{count(row['n_clean'] or 0, 'untouched image')}, percentile {row['percentile']:g} takes {row['needed']}"


def step_rank(page: AuditPage, metric: str) -> Row | None:
    """The rank correlation of a metric's score with the step."""
    return next(iter(page.of_all(page.given.audit.ranks, metric=metric, against="step")), None)


def share_text(row: Row | None) -> str:
    """`88 %`, or a dash."""
    return MISSING if row is None else percent(row["share"])
