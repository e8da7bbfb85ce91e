"""The audit's tables: recommendations, failures, ranges, content, ranks, determinism, opinions."""

from __future__ import annotations

from typing import Any

from convergebench.report.audit.charts import Confound, Share, draw_confound, draw_shares
from convergebench.report.audit.page import ANSWERS, EVERY, AuditPage
from convergebench.report.charts.svg import both
from convergebench.report.input import Row, rows
from convergebench.report.wording import MISSING, count, interval, no_interval, number, p_value, percent

MOST_DETAIL = 400
"""Rows of one editor each, under a table of all; the files have all."""


def named(page: AuditPage, row: Row) -> Row:
    """A row with its metric's title and the place of its card."""
    return {**row, "title": page.title(row["metric"]), "anchor": page.anchor(row["metric"])}


def recommended(page: AuditPage) -> dict[str, Any]:
    """Metrics down, purposes across: the answer with its sign, and why; and how many of which pictures fail."""
    frame = page.given.audit.recommendations
    found = {(row["metric"], row["purpose"]): row for row in rows(frame)}
    purposes = frame["purpose"].unique(maintain_order=True).to_list()
    lines = [
        {
            **named(page, row),
            "cells": [answer(found.get((row["metric"], purpose))) for purpose in purposes],
            "of": decided(row),
        }
        for row in page.audited
    ]
    return {"purposes": purposes, "rows": lines}


def answer(row: Row | None) -> Row:
    """One recommendation as it is shown."""
    if row is None:
        return {"answer": "unknown", "sign": ANSWERS["unknown"], "reason": ""}
    return {"answer": row["answer"], "sign": ANSWERS.get(row["answer"], ""), "reason": row["reason"] or ""}


def failed(page: AuditPage) -> dict[str, Any]:
    """The chart of shares, and the counts per editor."""
    shares = [_share(row) for row in sorted(page.audited, key=lambda row: (row["share"] is None, row["share"] or 0.0))]
    label = "Share of pictures that fail. " + "; ".join(f"{one.name} {one.counted}" for one in shares)
    cells = {(row["editor"], row["metric"]): row for row in rows(page.given.audit.failures)}
    editors = [editor for editor in page.editors if any((editor, metric) in cells for metric in page.names)]
    table = [
        {**named(page, row), "cells": [counted(cells.get((editor, row["metric"]))) for editor in editors]}
        for row in page.audited
    ]
    return {
        "chart": both(lambda width: draw_shares(shares, width, label=label)) if shares else None,
        "rings": any(row["n_failed_any"] != row["n_failed"] for row in page.audited),
        "sure": any(row["low"] is not None for row in page.audited),
        "editors": editors if len(editors) > 1 else [],
        "rows": table if len(editors) > 1 else [],
        "pairs": [
            {
                **row,
                "fewer_title": page.title(row["fewer"]),
                "more_title": page.title(row["more"]),
                "difference_text": percent(row["difference"]),
                "p_text": p_value(row["p_holm"]),
            }
            for row in sorted(rows(page.given.audit.pairs), key=lambda row: (row["p_holm"], -row["difference"]))
        ][:MOST_DETAIL],
    }


def decided(row: Row) -> int:
    """Pictures of which it can be told whether the metric fails; the share is of these."""
    return int((row["n_cells"] or 0) - (row["n_missing"] or 0))


def _share(row: Row) -> Share:
    of = decided(row)
    any_run = min(1.0, row["n_failed_any"] / of) if of and row["n_failed_any"] is not None else None
    counted = f"{row['n_failed']} / {of}"
    return Share(row["title"] or row["metric"], row["share"], row["low"], row["high"], any_run, counted)


def counted(row: Row | None) -> Row:
    """`3/12` with its interval, for a table of metrics and editors."""
    if row is None or row["share"] is None:
        return {"text": MISSING, "interval": "", "shade": None, "says": "nothing known"}
    said = _percents(row)
    says = f"{row['n_failed_any']} in any single run, {row['n_missing']} unknown for want of a score, "
    says += f"{row['n_zero']} gaps exactly 0"
    shown = f"{row['n_failed']}/{decided(row)}"
    return {"text": shown, "interval": said, "shade": round(row["share"], 2), "says": says}


def _percents(row: Row) -> str:
    if row["low"] is None or row["high"] is None:
        return no_interval(row["n_sources"])
    return interval(100 * row["low"], 100 * row["high"], 0) + " %"


def confounded(page: AuditPage) -> dict[str, Any]:
    """Content's spread beside the damage's drop."""
    found = [named(page, row) for row in rows(page.given.audit.confound)]
    found.sort(key=lambda row: (row["ratio"] is None, row["ratio"] or 0.0))
    dots = [
        Confound(row["title"], row["spread"], row["mean_gap"], row["ratio"], row["low"], row["high"]) for row in found
    ]
    drawable = [dot for dot in dots if dot.spread is not None or dot.gap is not None]
    label = "Spread over untouched images beside the drop by damage. "
    label += "; ".join(f"{dot.name} ratio {number(dot.ratio, 2)}" for dot in dots)
    sure = [row for row in found if row["low"] is not None]
    return {
        "chart": both(lambda width: draw_confound(drawable, width, label=label)) if drawable else None,
        "content": sum(row["high"] < 1 for row in sure),
        "damage": sum(row["low"] > 1 for row in sure),
        "known": len(sure),
        "at": max((row["at"] for row in found if row["at"] is not None), default=None),
        "rows": [
            {
                **row,
                "spread_text": number(row["spread"], 2),
                "gap_text": number(row["mean_gap"], 2),
                "ratio_text": number(row["ratio"], 2),
                "interval": interval(row["low"], row["high"], 2) or no_interval(row["n_clean"]),
                "ends": _ends(row),
            }
            for row in found
        ],
    }


def _ends(row: Row) -> str:
    if row["smallest"] is None or row["largest"] is None:
        return ""
    return (
        f"{number(row['smallest'], 1)} ({row['smallest_source']}) to {number(row['largest'], 1)} "
        f"({row['largest_source']})"
    )


def ranged(page: AuditPage) -> dict[str, Any]:
    """Scores outside the range that the authors give."""
    ours = {row["metric"] for row in page.metrics if row["range_ours"]}
    found = [
        {
            **named(page, row),
            "range": f"{row['range_low']:g} to {row['range_high']:g}",
            "ours": row["metric"] in ours,
            "out": (row["below"] or 0) + (row["above"] or 0),
            "smallest_text": number(row["smallest"], 2),
            "largest_text": number(row["largest"], 2),
        }
        for row in rows(page.given.audit.ranges)
    ]
    leaving = [row["title"] for row in found if row["out"]]
    return {"rows": found, "leaving": leaving}


def contents(page: AuditPage) -> list[Row]:
    """What adding objects does to the score."""
    return [
        {
            **named(page, row),
            "shift_text": number(row["shift"], 2),
            "interval": interval(row["low"], row["high"], 2),
            "largest_text": number(row["largest"], 2),
            "jumpiness_text": number(row["jumpiness"], 2),
            "drop_text": number(row["drop"], 2),
            "ratio_text": number(row["ratio"], 2),
            "who": "all editors" if row["editor"] == EVERY else row["editor"],
        }
        for row in rows(page.given.audit.content)
    ]


def ranked(page: AuditPage) -> dict[str, Any]:
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
            line = {**named(page, row), "editor": editor, "cells": cells}
            (lines if editor == pooled else detail).append(line)
    kept = [line for line in detail if any(cell["n"] for cell in line["cells"])]
    return {"against": against, "rows": lines, "detail": kept[:MOST_DETAIL], "more": max(0, len(kept) - MOST_DETAIL)}


def _rank(row: Row | None) -> Row:
    if row is None or row["rho"] is None:
        why = "not known" if row is None else f"no chain has one ({row['n_undefined']} undefined)"
        return {
            "text": MISSING,
            "interval": "",
            "says": why,
            "n": 0 if row is None else row["n_chains"],
            "wrong": False,
        }
    says = f"{row['n_chains']} chains, {row['n_undefined']} undefined, {row['n_sources']} images"
    said = interval(row["low"], row["high"], 2)
    return {
        "text": number(row["rho"], 2),
        "interval": said,
        "says": says,
        "n": row["n_chains"],
        "wrong": row["rho"] >= 0,
    }


def repeated(page: AuditPage) -> dict[str, Any]:
    """The same picture scored twice: metrics down, checks across, the largest distance in the cell."""
    frame = page.given.audit.repeats
    found = {(row["metric"], row["check"]): row for row in rows(frame)}
    checks = frame["check"].unique(maintain_order=True).to_list()
    names = list(dict.fromkeys(metric for metric, _ in found))
    lines = [
        {**named(page, {"metric": metric}), "cells": [_twice(found.get((metric, check))) for check in checks]}
        for metric in names
    ]
    return {"checks": checks, "rows": lines}


def _twice(row: Row | None) -> Row:
    if row is None:
        return {"text": "not checked", "says": "", "known": False, "same": False}
    if row["largest"] is None:
        return {"text": row["status"] or MISSING, "says": f"{row['n']} pictures", "known": False, "same": False}
    says = f"{row['same']} of {row['n']} exactly the same, median {number(row['median'], 4)}; {row['status']}"
    exact = row["n"] == row["same"]
    return {"text": "0" if exact else _fine(row["largest"]), "says": says, "known": True, "same": exact}


def _fine(value: float) -> str:
    """Few digits of a large distance, and a small one never as nothing."""
    return "< 0.001" if 0 < value < 0.001 else number(value, 3)


def rated(page: AuditPage) -> list[Row]:
    """Against people's ratings."""
    return [
        {
            **named(page, row),
            "plcc_text": number(row["plcc"], 2),
            "plcc_interval": interval(row["plcc_low"], row["plcc_high"], 2),
            "srcc_text": number(row["srcc"], 2),
            "srcc_interval": interval(row["srcc_low"], row["srcc_high"], 2),
        }
        for row in rows(page.given.audit.opinions)
    ]


def first_risk(page: AuditPage, metric: str) -> Row | None:
    """What passes at the last gap the mildest filter that could be set; of the least demanding one if none could."""
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
    """How its score follows the steps."""
    return next(iter(page.of_all(page.given.audit.ranks, metric=metric, against="step")), None)


def share_text(row: Row | None) -> str:
    """`88 %`, or a dash."""
    return MISSING if row is None else percent(row["share"])
