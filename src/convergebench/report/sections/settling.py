"""Whether chains settle: shares of verdicts, contraction factors, estimates of the limit, and the drift's shape."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.contraction import EXCEEDED
from convergebench.report.chains import viewer_link
from convergebench.report.charts.contraction import Factor, FactorChart
from convergebench.report.input import Row, by_chain, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.wording import VERDICTS, interval, number, percent

MOST_ESTIMATES, MOST_FLOORS = 8, 60
WORDS = {"too early": "too early to tell"}
"""Verdicts with another text on the page than in the tables."""


def settling_section(page: Page) -> dict[str, Any]:
    """The context of the section `Does it settle?`."""
    analysis = page.given.analysis
    shares: dict[str, dict[str, Row]] = {}
    for row in rows(analysis.verdicts):
        shares.setdefault(row["editor"], {})[row["verdict"]] = row
    return {
        "verdicts": [
            {"name": verdict, "words": WORDS.get(verdict, verdict), "style": _class_of(verdict)}
            for verdict in VERDICTS
            if any(verdict in found for found in shares.values())
        ],
        "shares": [_shares(page, editor, shares[editor]) for editor in page.order if editor in shares],
        "fewest": analysis.settings.settling_rounds,
        "factors": _factors(page),
        "estimates": _estimates(page),
        "exceeded": [tuple(percent(share) for share in estimate) for estimate in EXCEEDED],
        "shapes": _shapes(page),
        "distance": analysis.settings.distance,
        "floors": analysis.floors.to_dicts()[:MOST_FLOORS],
    }


def _shares(page: Page, editor: str, found: dict[str, Row]) -> Row:
    total = sum(row["chains"] for row in found.values())
    parts = [
        {
            "words": WORDS.get(verdict, verdict),
            "style": _class_of(verdict),
            "share": found[verdict]["share"],
            "percent": percent(found[verdict]["share"]),
            "ends": _ends(found[verdict]),
            "chains": found[verdict]["chains"],
            "q": number(found[verdict]["median_q"]),
        }
        for verdict in VERDICTS
        if verdict in found and found[verdict]["chains"]
    ]
    return {"editor": editor, "style": page.style[editor], "parts": parts, "chains": total}


def _class_of(verdict: str) -> str:
    """The style class that colours a verdict."""
    return f"v-{verdict.replace(' ', '-')}"


def _ends(row: Row) -> str:
    """`40–80 %`, or empty where there is no interval."""
    return "" if row["low"] is None else f"{100 * row['low']:.0f}–{percent(row['high'])}"


def _factors(page: Page) -> FactorChart | None:
    chains: dict[str, list[Factor]] = {editor: [] for editor in page.drawn}
    for row in rows(page.given.analysis.contraction):
        if row["q"] is not None and row["editor"] in chains:
            link = viewer_link(row["editor"], row["case"])
            verdict: str = WORDS.get(row["verdict"]) or row["verdict"]
            chains[row["editor"]].append(Factor(row["q"], row["q_low"], row["q_high"], row["case"], verdict, link))
    if not any(chains.values()):
        return None
    lines = [(editor, page.style[editor], factors) for editor, factors in chains.items()]
    label = "Contraction factor of every chain. Below 1 the steps of a chain shrink from round to round."
    return FactorChart(lines, label)


def _estimates(page: Page) -> list[Row]:
    """Chains with estimates of their limit, at most two per editor."""
    found = []
    kept: dict[str, int] = {}
    for (editor, case), (row, *_) in by_chain(page.given.analysis.contraction).items():
        if row["posterior_bound"] is None or kept.get(editor, 0) >= 2 or editor not in page.style:
            continue
        kept[editor] = kept.get(editor, 0) + 1
        found.append(
            {
                "editor": editor,
                "case": case,
                "link": viewer_link(editor, case),
                "q": f"{number(row['q'])} ({interval(row['q_low'], row['q_high'])})",
                "drift": number(row["drift"], 4),
                "prior": number(row["prior_bound"], 4),
                "posterior": number(row["posterior_bound"], 4),
            }
        )
    return found[:MOST_ESTIMATES]


def _shapes(page: Page) -> dict[str, Any]:
    every = rows(page.given.analysis.shapes, group="all")
    named = list(dict.fromkeys(row["shape"] for row in every))
    lines = []
    for editor in page.order:
        mine = {row["shape"]: row for row in every if row["editor"] == editor}
        if mine:
            first = next(iter(mine.values()))
            best = next((row for row in mine.values() if row["best"]), None)
            unfit = all(row["weight"] is None for row in mine.values())
            weights = [
                {
                    "text": number(mine[s]["weight"], 2) if s in mine else "–",
                    "best": bool(s in mine and mine[s]["best"]),
                    "says": mine[s]["parameters"] if s in mine else "not fitted",
                }
                for s in named
            ]
            lines.append(
                {
                    "editor": editor,
                    "verdict": first["verdict"],
                    "weights": weights,
                    "parameters": best["parameters"] if best else "too few rounds to weigh" if unfit else "",
                    "rounds": first["n_rounds"],
                    "cases": first["n_cases"],
                    "left_out": first["n_missing"],
                }
            )
    return {"names": named, "rows": lines}


SETTLING = TemplateSection("settling", "Convergence", "settling.html", settling_section, key="settling")
