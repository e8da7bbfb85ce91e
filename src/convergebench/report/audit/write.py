"""The audit as a folder: the page "Can you trust this metric?", tables, figures and plain data."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from convergebench.analysis.audit.counts import audit_counts
from convergebench.report.audit.cards import hero
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.audit.page import VERDICTS, AuditPage, open_page
from convergebench.report.audit.plots import write_audit_plots
from convergebench.report.audit.sections import SECTIONS
from convergebench.report.audit.summary import audit_json
from convergebench.report.audit.tables import write_audit_tables
from convergebench.report.chains import relative
from convergebench.report.chart_library import library_file
from convergebench.report.folding import in_reading_order, shown_section
from convergebench.report.input import Row
from convergebench.report.output import RenderedFile, write_files


def write_audit(given: AuditReportInput, out: Path, *, plots: bool = True) -> Path:
    """Write the audit into the folder `out` and return the path of its `index.html`.

    Pictures stay in their runs and are linked relatively. The page is written last, so a killed audit leaves no page or
    the previous one.
    """
    out.mkdir(parents=True, exist_ok=True)
    again = (out / "audit.json").is_file()
    write_audit_tables(given, out / "tables")
    if plots:
        write_audit_plots(open_page(given, out), out / "plots", again=again)
    return write_files(render_audit(given, out), out)[-1]


def render_audit(given: AuditReportInput, out: Path) -> Iterator[RenderedFile]:
    """Every file of the audit for `out` except tables and figures, `index.html` last; nothing is written."""
    page = open_page(given, out)
    yield "audit.json", json.dumps(audit_json(given), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    shown = []
    for section in SECTIONS:
        content = section.build(page)
        if content is not None:
            yield from content.files
            shown.append(shown_section(section, content.html))
    html = page.renderer.render("audit.html", **_head(page), sections=in_reading_order(shown))
    yield from page.album.files()
    yield library_file()
    yield "index.html", html


def _head(page: AuditPage) -> dict[str, Any]:
    audit, counts = page.given.audit, audit_counts(page.given.audit)
    return {
        "created": str(page.given.made.get("date") or "")[:10],
        "hero": hero(page),
        "contradicted": bool(audit.contradictions.height),
        "verdicts": [(verdict, counts.verdicts[verdict]) for verdict in VERDICTS if verdict in counts.verdicts],
        "images": counts.images,
        "missing": counts.missing,
        "run_links": _run_links(page.given, page.out),
    }


def _run_links(given: AuditReportInput, out: Path) -> list[Row]:
    """Each run, with a link to its own report if that exists."""
    found = []
    for name, folder in given.runs.items():
        report = folder / "report" / "index.html"
        where = Path(os.path.relpath(folder, out)).as_posix()
        found.append({"name": name, "link": relative(report, out) if report.is_file() else "", "where": where})
    return found
