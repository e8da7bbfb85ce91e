"""The audit's charts for print: heatmaps, traces, filter risk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from convergebench.report.audit.heatmaps import failure_grid, heat_chart
from convergebench.report.audit.lines import risk_panels, trace_panels
from convergebench.report.audit.page import AuditPage
from convergebench.report.plots import NamedChart, write_figures

MOST_LINES = 150
"""Most images in one heatmap for print; with more there is only one per editor."""
KINDS = ("png", "svg", "pdf")
DRAWN = ("failures", "trace-", "filter-risk-")
"""Prefixes of the names of our figures."""


def write_audit_plots(page: AuditPage, out_dir: Path, *, again: bool = False) -> list[Path]:
    """Write each figure as PNG, SVG and PDF; those without data are left out.

    `again`: an audit was written here before. Its figures of other gaps or metrics are deleted.
    """
    written = write_figures(audit_charts(page), out_dir, KINDS)
    for path in out_dir.iterdir() if again else ():
        if path.suffix[1:] in KINDS and path.name.startswith(DRAWN) and path not in written:
            path.unlink()
    return written


def audit_charts(page: AuditPage) -> Iterator[NamedChart]:
    """The charts of the page that are also drawn for print, by the names of their files."""
    grid = failure_grid(page)
    if 0 < len(grid.lines) <= MOST_LINES:
        for gap in (None, *page.gaps):
            yield "failures" if gap is None else f"failures-gap-{gap}", heat_chart(grid, grid.lines, gap)
    editors = list(dict.fromkeys(line[1] for line in grid.lines))
    for editor in editors if len(editors) > 1 else []:
        mine = [line for line in grid.lines if line[1] == editor]
        yield f"failures-editor-{editor}", heat_chart(grid, mine, None, MOST_LINES)
    for metric, panel in zip(page.names, trace_panels(page), strict=True):
        if panel["chart"] is not None:
            yield f"trace-{metric}", panel["chart"]
    for panel in risk_panels(page):
        if panel["chart"] is not None:
            yield f"filter-risk-{panel['percentile']}", panel["chart"]
