"""Worst cases, costs, and unfinished chains."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.counts import costs, unfinished
from convergebench.report.chains import viewer_link
from convergebench.report.crops import crop_strip
from convergebench.report.input import Row, by_chain, metric_order, rows
from convergebench.report.missing import missing_meanings, missing_text
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection

MOST_WORST = 12
CARD_SHOWN = 124
"""Pixels of a card's picture on a desktop page."""
STATUSES = ("finished", "refused", "failed", "ended", "stopped", "open")


def worst_cases(page: Page) -> list[Row]:
    """The worst chains, worst first, without their pictures."""
    return rows(page.given.analysis.worst)[:MOST_WORST]


def worst_section(page: Page) -> list[Row]:
    """Cards of the worst chains: first and last picture, numbers, a link to the film strip."""
    thumbs = page.thumbs
    steps = by_chain(page.given.steps)
    found = []
    for row in worst_cases(page):
        chain_steps = sorted(steps.get((row["editor"], row["case"]), []), key=lambda step: int(step["index"]))
        pictures = [step for step in chain_steps if step["image"] in thumbs]
        found.append(
            {
                **row,
                "style": page.style[row["editor"]],
                "link": viewer_link(row["editor"], row["case"], pictures[-1]["index"] if pictures else None),
                "first": thumbs[pictures[0]["image"]] if pictures else None,
                "final": thumbs[pictures[-1]["image"]] if pictures else None,
                "crops": _crops(page, [step["image"] for step in pictures]),
            }
        )
    return found


def _crops(page: Page, images: list[str]) -> tuple[str, str, int] | None:
    """Crops of the first and the last picture, and their side in pixels."""
    found = crop_strip(page.thumbnails, [images[0], images[-1]], shown_at=CARD_SHOWN) if images else None
    if found is None or images[0] not in found.crops or images[-1] not in found.crops:
        return None
    return found.crops[images[0]], found.crops[images[-1]], found.place.side


def cost_section(page: Page) -> dict[str, Any]:
    """Chains by status, with steps, dollars and seconds; and the editors that were not run."""
    given = page.given
    found: dict[str, dict[str, int]] = {}
    for row in rows(given.analysis.outcomes):
        found.setdefault(row["editor"], {})[row["status"]] = row["chains"]
    extra = sorted({status for ends in found.values() for status in ends} - set(STATUSES))
    shown = [status for status in (*STATUSES, *extra) if any(status in ends for ends in found.values())]
    spent = {row["editor"]: row for row in rows(costs(given.analysis.outcomes, given.spending))}
    asked = [row for row in rows(given.spending) if row["editor"].startswith("role:") and row["dollars"]]
    unknown = [row for row in rows(given.spending) if row["unknown_calls"]]
    return {
        "statuses": shown,
        "rows": [
            {**spent[editor], "counts": [found[editor].get(status, 0) for status in shown]}
            for editor in page.order
            if editor in found
        ],
        "not_run": given.not_run,
        "reasons": unfinished(given.chains),
        "asked": [{**row, "role": row["editor"].removeprefix("role:")} for row in asked],
        "unknown_calls": sum(row["unknown_calls"] for row in unknown),
        "unknown_dollars": sum(row["unknown_dollars"] for row in unknown),
    }


def _cost_context(page: Page) -> dict[str, Any]:
    measured = page.given.measurements
    gone = measured.filter(measured["value"].is_null()) if measured.height else measured
    metrics = metric_order(page.given, gone["metric"].unique().to_list() if gone.height else [])
    return {
        "cost": cost_section(page),
        "missing_why": [(metric, missing_text(gone.filter(metric=metric))) for metric in metrics],
        "meanings": missing_meanings(gone),
    }


WORST = TemplateSection("worst", "Worst cases", "worst.html", worst_section, key="worst")
CHAINS: TemplateSection[Page] = TemplateSection(
    "chains", "Every chain", "chains.html", lambda page: {"chains": page.given.chains.height}
)
COST = TemplateSection("cost", "Cost and failures", "cost.html", _cost_context)
