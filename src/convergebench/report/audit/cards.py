"""One card per metric: its verdict, where it fails, its numbers, its worst contradiction."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.series import parse_series
from convergebench.report.audit.numbers import (
    answer_cell,
    count_cell,
    decided,
    few_clean,
    first_risk,
    share_text,
    step_rank,
    with_title,
)
from convergebench.report.audit.page import EVERY, VERDICTS, AuditPage, depth
from convergebench.report.audit.pictures import ContradictionPictures, contradictions
from convergebench.report.input import Row, rows
from convergebench.report.wording import better, interval, no_interval, number

Terms = list[tuple[str, str, str, str]]
"""(anchor of the definition, term, value, remark)."""


def cards(page: AuditPage) -> list[Row]:
    """The card of every metric: audited ones by verdict, the worst first; then those that were not run."""
    worst: dict[str, Row] = {}
    for row in contradictions(page.given):
        worst.setdefault(row["metric"], row)
    order = {verdict: place for place, verdict in enumerate(VERDICTS)}
    audited = sorted(
        page.audited, key=lambda row: (not depth(row["verdict"]), -order.get(row["verdict"], 0), -(row["share"] or 0.0))
    )
    return [_card(page, row, worst.get(row["metric"])) for row in audited] + [
        {**with_title(page, row), "audited": False, "badges": badges(page, row), "depth": 0, **_how_to_run(row)}
        for row in page.not_run
    ]


def _how_to_run(row: Row) -> Row:
    """Why it was not run, and the command to run it."""
    return {"why": row["why"] or "no reason was recorded", "type": f"cbench audit RUN --metric {row['metric']}"}


def badges(page: AuditPage, row: Row) -> list[tuple[str, str, bool]]:
    """(text, anchor of its definition, emphasised) of the badges beside a metric's name."""
    facts = page.given.given.facts.get(row["metric"])
    private = facts.noncommercial if facts else row["route"] == "pyiqa"
    known = (
        ("not run", "not-run", True, row["status"] != "audited"),
        ("noncommercial", "noncommercial", False, private),
        ("upper bound ours", "scaled", True, bool(row["range_ours"])),
        ("served", "route", False, row["route"] == "served"),
        ("plug-in", "route", False, row["route"] == "plug-in"),
        ("not one of the published 23", "published", False, not row["published"]),
        (f"{row['n_missing']} unknown", "missing", True, bool(row["n_missing"]) and row["status"] == "audited"),
    )
    return [(text, anchor, loud) for text, anchor, loud, applies in known if applies]


def _card(page: AuditPage, row: Row, worst: Row | None) -> Row:
    failures = [one for one in rows(page.given.audit.failures, metric=row["metric"]) if one["editor"] != EVERY]
    failures.sort(key=lambda one: -(one["share"] or 0.0))
    advice = rows(page.given.audit.recommendations, metric=row["metric"])
    facts = page.given.given.facts.get(row["metric"])
    evidence = page.album.evidence(worst) if worst else None
    where = [{"editor": one["editor"], **count_cell(one)} for one in failures if one["n_failed"]]
    in_reason = all(one["editor"] in (row["reason"] or "") for one in where)
    return {
        **with_title(page, row),
        "audited": True,
        "badges": badges(page, row),
        "depth": depth(row["verdict"]),
        "summary": facts.summary if facts else "",
        "where": [] if in_reason else where,
        "nowhere": [one["editor"] for one in failures if one["n_failed"] == 0 and one["share"] is not None],
        "numbers": _numbers(page, row),
        "advice": [{"purpose": one["purpose"], **answer_cell(one)} for one in advice],
        "evidence": contradiction_context(page, evidence) if evidence else None,
    }


def contradiction_context(page: AuditPage, evidence: ContradictionPictures) -> Row:
    """The numbers and texts of a contradiction, with its pictures."""
    row = evidence.row
    damage, facts = row["damage_metric"] or "", page.given.given.facts
    return {
        **row,
        "title": page.title(row["metric"]),
        "anchor": page.anchor(row["metric"]),
        "arrow": better(row["metric"], facts),
        "evidence": evidence,
        "gap_text": f"+{number(row['gap'], 1)}" if row["gap"] > 0 else number(row["gap"], 1),
        "damage_text": f"{better(damage, facts)} {number(row['damage'], 3)}".strip(),
        "damage_against": "against step 1" if parse_series(damage).is_against_first else "against its source",
        "raw": [number(frame.raw, 2) for frame in (evidence.first, evidence.last)],
        "steps": [(frame, number(frame.raw, 2)) for frame in evidence.strip],
    }


def hero(page: AuditPage) -> dict[str, Any] | None:
    """The worst contradiction whose pictures exist, with the steps between."""
    for row in contradictions(page.given):
        if row["gap"] <= 0:
            return None
        found = page.album.evidence(row, page.gaps)
        if found.shown:
            return contradiction_context(page, found)
    return None


def _numbers(page: AuditPage, row: Row) -> Terms:
    """The metric's most important numbers from the tables."""
    metric, audit = row["metric"], page.given.audit
    counts = count_cell(row)
    found: Terms = [("failure", "pictures that fail", f"{row['n_failed']} of {decided(row)}", counts["interval"])]
    if row["n_failed_any"] != row["n_failed"]:
        found.append(("any-run", "in any single run", str(row["n_failed_any"]), ""))
    if row["n_zero"]:
        found.append(("zero", "gaps of exactly 0", str(row["n_zero"]), "counted as failures"))
    for one in rows(audit.confound, metric=metric):
        band = interval(one["low"], one["high"], 2) or no_interval(one["n_clean"])
        found.append(("confound", "confound ratio", number(one["ratio"], 2), band))
    risk = first_risk(page, metric)
    if risk is not None:
        at = f"at {page.unit.one} {risk['at']}, filter at {risk['percentile']:g} %"
        known = risk["share"] is not None
        found.append(
            ("filter", "pass a filter", share_text(risk), at if known else f"too few to tell: {few_clean(risk)}")
        )
    rank = step_rank(page, metric)
    if rank is not None:
        band = interval(rank["low"], rank["high"], 2)
        found.append(("rank", f"rank with {page.unit.one}", number(rank["rho"], 2), band))
    for one in page.of_all(audit.content, metric=metric):
        found.append(
            ("jumpiness", f"jumpiness, {one['pair']}", number(one["jumpiness"], 1), f"drop {number(one['drop'], 1)}")
        )
    for one in rows(audit.ranges, metric=metric):
        out = (one["below"] or 0) + (one["above"] or 0)
        found.append(("range", "scores outside its range", f"{out} of {one['n']}", ""))
    low, high = row["range_low"], row["range_high"]
    if low is not None and high is not None:
        found.append(("scaled", "range", f"{low:g} to {high:g}", f"{row['better']} is better"))
    return found
