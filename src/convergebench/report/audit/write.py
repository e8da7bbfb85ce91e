"""The audit as a folder: the page "Can you trust this metric?", tables, figures and plain data."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from convergebench.report.audit.cards import cards, depth, hero
from convergebench.report.audit.heat import heat_panels, heat_section
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.audit.lines import risk_panels, trace_panels
from convergebench.report.audit.numbers import (
    confounded,
    contents,
    failed,
    ranged,
    ranked,
    rated,
    recommended,
    repeated,
)
from convergebench.report.audit.page import VERDICTS, AuditPage, not_run_reasons, open_page
from convergebench.report.audit.pictures import open_album, relative
from convergebench.report.audit.plots import write_audit_plots
from convergebench.report.audit.summary import audit_json
from convergebench.report.audit.tables import write_audit_tables
from convergebench.report.audit.terms import constants, glossary, provenance, runs_made
from convergebench.report.environment import environment, write_panels
from convergebench.report.files import write_whole
from convergebench.report.input import Row
from convergebench.report.palette import DARK, LIGHT, css_variables

NOTHING = "No metric was scored, so there is nothing to trust or to doubt yet."


def write_audit(given: AuditReportInput, out: Path, *, plots: bool = True) -> Path:
    """Write the audit into the folder `out` and give the path of its `index.html`.

    Pictures stay in their runs and are linked relatively. The page itself comes last, so a killed audit leaves none or
    the one before.
    """
    out.mkdir(parents=True, exist_ok=True)
    page = open_page(given)
    again = (out / "audit.json").is_file()
    write_audit_tables(given, out / "tables")
    write_whole(out / "audit.json", json.dumps(audit_json(given), indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    drawn = write_audit_plots(page, out / "plots", again=again) if plots else []
    templates, shared = environment(), _shared(page)
    context = _sections(page, out)
    for group, template, panels in (
        ("heat", "audit_heat_panel.html", heat_panels(page)),
        ("trace", "audit_trace_panel.html", trace_panels(page)),
        ("risk", "audit_risk_panel.html", risk_panels(page)),
    ):
        context[f"{group}_panels"] = write_panels(templates, out, group, template, panels, shared)
    files = [("tables as CSV and Parquet", "tables/"), ("the findings as JSON", "audit.json")]
    context["files"] = files + ([("figures as PNG and SVG", "plots/")] if drawn else [])
    html = templates.get_template("audit.html").render(**shared, **context, contents_list=_contents(context))
    write_whole(out / "index.html", html)
    return out / "index.html"


def _shared(page: AuditPage) -> dict[str, Any]:
    """What every template of the audit may use."""
    given = page.given
    headline = given.audit.headline
    marks = {name: [("simulated", "simulated")] for name in sorted(given.simulated)}
    return {
        "name": str(given.made.get("title") or ", ".join(given.runs) or "audit"),
        "finding": headline[0] if headline else NOTHING,
        "more": list(headline[1:]),
        "notes": list(given.audit.notes),
        "style": page.style,
        "marks": marks,
        "words": {name: [word for word, _ in found] for name, found in marks.items()},
        "simulated": [name for name in page.editors if name in given.simulated],
        "light": Markup(css_variables(LIGHT)),
        "dark": Markup(css_variables(DARK)),
        "unit": page.unit,
        "swatches": {editor: style.swatch for editor, style in page.style.items()},
        "palette": {editor: style.variable for editor, style in page.style.items()},
        "settings": given.audit.settings,
        "page": page,
        "depth": depth,
    }


def _sections(page: AuditPage, out: Path) -> dict[str, Any]:
    album = open_album(page.given, out)
    made = cards(page, album)
    return {
        "created": str(page.given.made.get("date") or "")[:10],
        "hero": hero(page, album),
        "cards": made,
        "contradicted": bool(page.given.audit.contradictions.height),
        "verdicts": _verdicts(page),
        "recommended": recommended(page),
        "heat": heat_section(page),
        "failed": failed(page),
        "confound": confounded(page),
        "ranged": ranged(page),
        "content": contents(page),
        "ranked": ranked(page),
        "repeats": repeated(page),
        "opinions": rated(page),
        "reasons": not_run_reasons(page),
        "images": page.given.audit.cells["source"].n_unique() if page.given.audit.cells.height else 0,
        "missing": sum(row["n_missing"] or 0 for row in page.audited),
        "terms": glossary(page),
        "made": provenance(page),
        "constants": constants(page),
        "runs_made": runs_made(page),
        "run_links": _run_links(page.given, out),
    }


def _verdicts(page: AuditPage) -> list[Row]:
    """How many metrics have each verdict, best first."""
    counted = {verdict: sum(row["verdict"] == verdict for row in page.metrics) for verdict in VERDICTS}
    return [{"verdict": verdict, "n": n} for verdict, n in counted.items() if n]


def _run_links(given: AuditReportInput, out: Path) -> list[Row]:
    """Each run, with a link to its own report where that is there."""
    return [
        {
            "name": name,
            "link": relative(folder / "report" / "index.html", out)
            if (folder / "report" / "index.html").is_file()
            else "",
            "where": Path(os.path.relpath(folder, out)).as_posix(),
        }
        for name, folder in given.runs.items()
    ]


CONTENTS = (
    ("advice", "What to use it for"),
    ("heat", "Where it fails"),
    ("counts", "How often"),
    ("traces", "Along the chains"),
    ("confound", "Content or damage?"),
    ("content", "Added objects"),
    ("risk", "Filter risk"),
    ("ranks", "Ranks"),
    ("ranges", "Ranges"),
    ("repeats", "Same picture twice"),
    ("opinions", "People's ratings"),
    ("cards", "Every metric"),
    ("made", "How it was made"),
    ("terms", "Definitions"),
)
"""(anchor, words) of every section the page may have."""


def _contents(context: Mapping[str, Any]) -> list[tuple[str, str]]:
    has = {name: context[name] for name in ("content", "opinions")} | {"repeats": context["repeats"]["rows"]}
    audited = bool(context["recommended"]["rows"])
    always = ("cards", "made", "terms")
    return [(anchor, words) for anchor, words in CONTENTS if has.get(anchor, audited or anchor in always)]
