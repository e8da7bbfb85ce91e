"""The way down: worst cases, what it cost, what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convergebench.report.chains import by_chain, viewer_link
from convergebench.report.input import Row, rows
from convergebench.report.sections.page import Page
from convergebench.report.wording import number, short

MOST_WORST = 12
STATUSES = ("finished", "refused", "failed", "ended", "stopped", "open")


def worst_cases(page: Page) -> list[Row]:
    """The worst chains, worst first, without their pictures."""
    return rows(page.given.analysis.worst)[:MOST_WORST]


def worst_section(page: Page, thumbs: Mapping[str, str]) -> list[Row]:
    """Cards of the worst chains: first and last picture, numbers, a link to the film strip."""
    steps = by_chain(page.given.steps)
    found = []
    for row in worst_cases(page):
        walked = sorted(steps.get((row["editor"], row["case"]), []), key=lambda step: int(step["index"]))
        pictures = [step for step in walked if step["image"] in thumbs]
        found.append(
            {
                **row,
                "style": page.style[row["editor"]],
                "link": viewer_link(row["editor"], row["case"], pictures[-1]["index"] if pictures else None),
                "first": thumbs[pictures[0]["image"]] if pictures else None,
                "final": thumbs[pictures[-1]["image"]] if pictures else None,
                "auc_text": number(row["auc"]),
                "last_text": number(row["last"]),
            }
        )
    return found


def cost_section(page: Page) -> dict[str, Any]:
    """Chains by how they ended, with steps, dollars and seconds; editors that were not run say so."""
    found: dict[str, dict[str, Row]] = {}
    for row in rows(page.given.analysis.outcomes):
        found.setdefault(row["editor"], {})[row["status"]] = row
    extra = sorted({status for ends in found.values() for status in ends} - set(STATUSES))
    shown = [status for status in (*STATUSES, *extra) if any(status in ends for ends in found.values())]
    spent = {row["editor"]: row for row in rows(page.given.spending)}
    lines = [_costs(editor, found[editor], shown, spent.get(editor)) for editor in page.order if editor in found]
    asked = [{**row, "role": name.removeprefix("role:"), "dollars": number(row["dollars"], 2)}
             for name, row in spent.items() if name.startswith("role:") and row["dollars"]]  # fmt: skip
    unknown = [row for row in spent.values() if row["unknown_calls"]]
    return {
        "statuses": shown,
        "rows": lines,
        "not_run": page.given.not_run,
        "reasons": _reasons(page),
        "asked": asked,
        "unknown_calls": sum(row["unknown_calls"] for row in unknown),
        "unknown_dollars": number(sum(row["unknown_dollars"] for row in unknown), 2),
    }


def _costs(editor: str, ends: Mapping[str, Row], shown: list[str], spent: Row | None) -> Row:
    """Dollars are those of every call where that is known: chains do not know what their failed steps cost."""
    steps = sum(row["steps"] or 0 for row in ends.values())
    dollars = sum(row["dollars"] or 0.0 for row in ends.values()) if spent is None else spent["dollars"]
    seconds = sum(row["seconds"] or 0.0 for row in ends.values())
    return {
        "editor": editor,
        "counts": [ends[status]["chains"] if status in ends else 0 for status in shown],
        "steps": short(float(steps)),
        "dollars": number(dollars, 2),
        "seconds": number(seconds, 1),
        "each": number(seconds / steps, 2) if steps else "–",
        "price": number(dollars / steps, 4) if steps else "–",
    }


def _reasons(page: Page) -> list[tuple[str, str, str, int]]:
    """(editor, status, reason, chains) of everything that did not finish."""
    counted: dict[tuple[str, str, str], int] = {}
    for chain in rows(page.given.chains):
        if chain["status"] != "finished":
            key = (chain["editor"], chain["status"], chain["detail"] or "no reason given")
            counted[key] = counted.get(key, 0) + 1
    ordered = sorted(counted.items(), key=lambda item: -item[1])
    return [(*key, amount) for key, amount in ordered[:20]]
