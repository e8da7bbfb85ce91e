"""The funnel: from cases to accepted edits, and from sessions to whole ones."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.factory.funnel import EDITS, SESSIONS
from convergebench.analysis.factory.result import FactoryAnalysis
from convergebench.report.charts.funnel import FunnelChart, FunnelStage
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.factory.found import drawn_editors, found_in

TITLES = {EDITS: "First edits", SESSIONS: "Sessions of several turns"}


def funnel_section(page: Page) -> dict[str, Any] | None:
    """A chart per editor and track, and every number as a table."""
    found = found_in(page)
    if found is None:
        return None
    editors = drawn_editors(page, found)
    return {
        "editors": [
            {
                "editor": editor,
                "tracks": [
                    {"title": TITLES[track], **_track(page, found, editor, track)}
                    for track in (EDITS, SESSIONS)
                    if rows(found.funnel, editor=editor, track=track)
                ],
            }
            for editor in editors
        ],
        "several": len(editors) > 1,
        "table": [{**row, "track": TITLES[row["track"]]} for row in rows(found.funnel)],
    }


def _track(page: Page, found: FactoryAnalysis, editor: str, track: str) -> Row:
    own = rows(found.funnel, editor=editor, track=track)
    at = tuple((row["stage"], row["n"]) for row in own if row["stage"].startswith("at attempt"))
    stages = [
        FunnelStage(row["stage"], row["n"], row["share"], row["what"], at if row["stage"] == "accepted" else ())
        for row in own
        if not row["aside"]
    ]
    listed = ", ".join(f"{stage.name} {stage.n}" for stage in stages)
    label = f"{editor}, {TITLES[track].lower()}: {listed}"
    remarks = [row for row in own if row["aside"] and row["n"] and not row["stage"].startswith("at attempt")]
    return {"chart": FunnelChart(stages, page.style[editor], label), "remarks": remarks}


FUNNEL = TemplateSection("factory-funnel", "From case to edit", "factory_funnel.html", funnel_section, key="funnel")
