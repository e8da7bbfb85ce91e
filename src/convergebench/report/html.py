"""The report as a static page that opens from disk: finding, pictures, charts, tables, the way down to each image."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from convergebench.report.chains import metric_order, write_chains
from convergebench.report.environment import environment
from convergebench.report.glossary import glossary
from convergebench.report.hero import Hero, choose_hero
from convergebench.report.input import ReportInput
from convergebench.report.made import alignment, made_line, provenance, toml_text
from convergebench.report.missing import missing_meanings, missing_text
from convergebench.report.pages import BESIDE, NOTHING, VIEWER, Desk, write_replicate_pages
from convergebench.report.palette import DARK, INFERNO, LIGHT, css_variables
from convergebench.report.sections.breakdown import (
    adherence_groups,
    adherence_section,
    breakdown_section,
    diagnostics_section,
)
from convergebench.report.sections.cases import cost_section, worst_section
from convergebench.report.sections.curves import curves_section, survival_section
from convergebench.report.sections.page import Page, open_page
from convergebench.report.sections.ranking import ranking_section
from convergebench.report.sections.sensitivity import sensitivity_section
from convergebench.report.sections.settling import settling_section
from convergebench.report.thumbnails import HERO_SIDE, Thumbnails

MOST_SPEC = 40_000
"""Characters of the study's text shown in the page; longer ones are in the manifest."""


def write_report(given: ReportInput, out: Path) -> Path:
    """Write the report into the folder `out` and give the path of its `index.html`.

    Images stay where they are under `given.run` and are linked relatively; thumbnails already there are kept. The
    page itself comes last, so a killed report leaves none or the one before.
    """
    out.mkdir(parents=True, exist_ok=True)
    page = open_page(given)
    maker = Thumbnails(given.run, out)
    thumbs = maker.make(given.steps["image"].to_list() if given.steps.height else [])
    chains = write_chains(given, out, thumbs)
    hero = choose_hero(given)
    pictures = maker.make([f.image for s in hero.strips for f in s.frames] if hero else [], square=HERO_SIDE)
    desk = Desk(page, environment(), _shared(given, page, out), out, maker)
    desk.write("viewer.html", inferno=_channels())
    context = _sections(page, thumbs, out)
    context |= NOTHING if given.replicate is None else write_replicate_pages(desk, hero, thumbs)
    for group, prefix, template in (
        ("curves", "metric", "curve_panel.html"),
        ("survival", "curve", "survival_panel.html"),
    ):
        context[group] = desk.panels(prefix, template, context[group])
    desk.write(
        "index.html", **context, hero=hero, pictures=_shown(hero, pictures), chains=chains, contents=_contents(context)
    )
    return out / "index.html"


CONTENTS = (
    ("ranking", "Ranking"),
    ("sensitivity", "Our choices"),
    ("curves", "Curves"),
    ("survival", "Survival"),
    ("failures", "How it fails"),
    ("onset", "When it breaks"),
    ("variants", "Variants"),
    ("trace", "Score and picture"),
    ("settling", "Does it settle?"),
    ("breakdown", "Breakdowns"),
    ("adherence", "Adherence"),
    ("diagnostics", "Diagnostics"),
    ("worst", "Worst cases"),
    ("chains", "Every chain"),
    ("cost", "Cost and failures"),
    ("made", "How it was made"),
    ("terms", "Definitions"),
)
"""(anchor, words) of every section an index may have."""


def _contents(context: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The sections this page has."""
    always = not context["replicate"]
    has = {
        "sensitivity": context["sensitivity"],
        "failures": context["failures"],
        "onset": context["noticing"],
        "variants": context["variants"] or context["success"],
        "trace": context["trace"],
        "adherence": context["adherence"] or always,
        "diagnostics": context["diagnostics"] or always,
    }
    return [(anchor, words) for anchor, words in CONTENTS if has.get(anchor, True)]


def _shared(given: ReportInput, page: Page, out: Path) -> dict[str, Any]:
    headline = given.analysis.headline
    empty = "No chain was run yet, so there is nothing to say."
    unmeasured = "Nothing was measured yet, so there is nothing to say."
    if given.measurements.height and given.replicate is not None and not given.analysis.curves.height:
        unmeasured = (
            "No chain of this run should show its source at every step, so editors are not ranked; "
            "variants, traces and failures tell what was found."
        )
    fallback = empty if given.chains.height == 0 else unmeasured
    return {
        "manifest": given.manifest,
        "name": str(given.manifest.get("name") or given.run.name),
        "study": str(given.manifest.get("study") or ""),
        "created": str(given.manifest.get("created") or "")[:10],
        "finding": headline[0] if headline else fallback,
        "more": list(headline[1:]),
        "style": page.style,
        "simulated": given.simulated,
        "uninstructed": given.uninstructed,
        "marks": given.marks,
        "words": {name: [word for word, _ in marks] for name, marks in given.marks.items()},
        "light": Markup(css_variables(LIGHT)),
        "dark": Markup(css_variables(DARK)),
        "metric": given.headline_metric,
        "unit": given.unit,
        "beside": (*(BESIDE if given.replicate is not None else (VIEWER,)), *audit_link(given.run, out)),
        "made_line": made_line(given.manifest, analysis_version=given.analysis.version),
        "align": alignment(given.manifest),
        "realigned": given.manifest.get("realigned"),
        "swatches": {editor: style.swatch for editor, style in page.style.items()},
        "palette": {editor: style.variable for editor, style in page.style.items()},
    }


def _sections(page: Page, thumbs: Mapping[str, str], out: Path) -> dict[str, Any]:
    given = page.given
    measured = given.measurements
    measured_not = measured.filter(measured["value"].is_null()) if measured.height else measured
    by_metric = [
        (metric, missing_text(measured_not.filter(metric=metric)))
        for metric in metric_order(given, measured_not["metric"].unique().to_list() if measured_not.height else [])
    ]
    spec = toml_text(given.manifest.get("spec") or {})
    return {
        "order": page.order,
        "undrawn": page.undrawn,
        "ranking": ranking_section(page),
        "sensitivity": sensitivity_section(page),
        "curves": curves_section(page),
        "survival": survival_section(page),
        "settling": settling_section(page),
        "breakdown": breakdown_section(page),
        "adherence": adherence_section(page),
        "adherence_groups": adherence_groups(page),
        "diagnostics": diagnostics_section(page),
        "worst": worst_section(page, thumbs),
        "cost": cost_section(page),
        "floors": given.analysis.floors.to_dicts()[:60],
        "missing": measured_not.height,
        "missing_why": by_metric,
        "meanings": missing_meanings(measured_not),
        "images": given.steps.height,
        "restricted": [name for name, facts in given.facts.items() if facts.noncommercial],
        "terms": glossary(given.analysis.settings, given.unit, replicate=given.replicate is not None),
        "settings": given.analysis.settings,
        "spec": spec[:MOST_SPEC] + ("\n# … the rest is in manifest.json" if len(spec) > MOST_SPEC else ""),
        "files": _files(given, out),
        "made": provenance(given.manifest, analysis_version=given.analysis.version),
    }


def audit_link(run: Path, out: Path) -> list[tuple[str, str]]:
    """(link, words) of the run's audit, where one was made."""
    page = run / "audit" / "index.html"
    return [(quote(Path(os.path.relpath(page, out)).as_posix()), "metric audit")] if page.is_file() else []


def _files(given: ReportInput, out: Path) -> list[tuple[str, str]]:
    """(what, link) of the folders beside the page that hold the same findings as files."""
    known = (
        ("tables as CSV, Parquet and LaTeX", given.run / "tables"),
        ("figures for print", out / "plots"),
    )
    return [
        (what, quote(Path(os.path.relpath(folder, out)).as_posix()) + "/")
        for what, folder in known
        if folder.is_dir() and any(folder.iterdir())
    ]


def _shown(hero: Hero | None, pictures: Mapping[str, str]) -> dict[str, str]:
    return {f.image: pictures[f.image] for s in hero.strips for f in s.frames if f.image in pictures} if hero else {}


def _channels() -> list[str]:
    """The colour map's red, green and blue as SVG table values."""
    return [" ".join(f"{int(colour[1 + 2 * c : 3 + 2 * c], 16) / 255:.3f}" for colour in INFERNO) for c in range(3)]
