"""What every part of a report uses: the input, colours, the number of editors per chart, templates."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from convergebench.analysis.sequential.result import UntilAnalysis
from convergebench.analysis.series import parse_series
from convergebench.report.chains import relative
from convergebench.report.environment import Renderer
from convergebench.report.hero import Hero, choose_hero
from convergebench.report.input import ReportInput, metric_order
from convergebench.report.made import alignment, made_line
from convergebench.report.missing import missing_text
from convergebench.report.palette import DARK, LIGHT, Style, css_variables, styles
from convergebench.report.sections.base import PageBeside, ReportSection, load_sections
from convergebench.report.thumbnails import Thumbnails
from convergebench.report.titles import study_title
from convergebench.store.images import open_images

MOST_DRAWN = 12
"""Most editors in one chart whose lines stay distinguishable. Tables always list all."""
MOST_METRICS = 64
"""Most metrics in a switch; plots and tables have all."""
VIEWER = ("viewer.html", "film strips")


@dataclass(frozen=True)
class Page:
    """The input with its drawing choices. `order`: ranked editors, best first, then the others.

    `out` is the folder of the page: links are relative to it. Nothing is written there.
    """

    given: ReportInput
    style: dict[str, Style]
    order: list[str]
    out: Path

    @property
    def drawn(self) -> list[str]:
        """The editors that charts show."""
        return self.order[:MOST_DRAWN]

    @property
    def undrawn(self) -> int:
        """How many editors are only in the tables."""
        return max(0, len(self.order) - MOST_DRAWN)

    def missing(self, metric: str, steps: Collection[int] | None = None) -> str:
        """How many of a metric's values are missing and why, at all steps or at these."""
        part = self.given.measurements.filter(pl.col("metric") == metric)
        return missing_text(part if steps is None else part.filter(pl.col("step").is_in(list(steps))))

    def metrics(self, names: list[str], most: int | None = MOST_METRICS) -> list[str]:
        """At most `most` metrics in the report's order, without lags."""
        return [name for name in metric_order(self.given, names) if parse_series(name).role != "lag"][:most]

    @cached_property
    def thumbnails(self) -> Thumbnails:
        """Small copies of the run's images."""
        return Thumbnails(open_images(self.given.run).view, self.out)

    @cached_property
    def thumbs(self) -> dict[str, str]:
        """Image → its plain thumbnail, for every step that can be read."""
        return self.thumbnails.make(self.given.steps["image"].to_list() if self.given.steps.height else [])

    @cached_property
    def hero(self) -> Hero | None:
        """The case that shows the finding; None for studies whose own sections show their pictures first."""
        own = not {"ranking", "curves"} & {section.name for section in self.sections}
        return None if own else choose_hero(self.given)

    @cached_property
    def sections(self) -> list[ReportSection]:
        """The sections of this study, in order."""
        return sections_of(self.given)

    @property
    def beside(self) -> list[PageBeside]:
        """The pages beside this report, without the viewer, which always exists."""
        return [one for one in self.sections if isinstance(one, PageBeside) and one.applies(self)]

    @cached_property
    def renderer(self) -> Renderer:
        """The templates, with the shared context of all pages of this report."""
        return Renderer(_shared(self))

    def render(self, template: str | Path, **context: Any) -> Markup:
        """A rendered template: a built-in one by its name, another one by its path. Values are escaped."""
        return self.renderer.render(template, **context)

    def relative(self, path: Path) -> str:
        """A link from the page to a file or folder."""
        return relative(path, self.out)


def sections_of(given: ReportInput) -> list[ReportSection]:
    """The sections of a run's page, in order; what was decided comes before the ranking."""
    names = list(given.sections or given.study.sections)
    if given.result(UntilAnalysis) is not None and "until" not in names:
        names.insert(names.index("ranking") if "ranking" in names else 0, "until")
    return load_sections(names)


def open_page(given: ReportInput, out: Path | None = None) -> Page:
    """The page of a report; editors get colours in the manifest's order, rows are ordered by rank."""
    ranked = [row["editor"] for row in given.ranked]
    ran = [editor for editor in given.editors if editor not in given.not_run]
    return Page(given, styles(given.editors), list(dict.fromkeys([*ranked, *ran])), out or given.run / "report")


def _shared(page: Page) -> dict[str, Any]:
    given = page.given
    headline = given.analysis.headline
    return {
        "manifest": given.manifest,
        "name": str(given.manifest.get("name") or given.run.name),
        "title": study_title(given.manifest),
        "study": str(given.manifest.get("study") or ""),
        "created": str(given.manifest.get("created") or "")[:10],
        "finding": headline[0] if headline else _no_finding(given),
        "more": list(headline[1:]),
        "order": page.order,
        "undrawn": page.undrawn,
        "simulated": given.simulated,
        "uninstructed": given.uninstructed,
        "metric": given.headline_metric,
        "settings": given.analysis.settings,
        "beside": [*((one.file, one.words) for one in page.beside), VIEWER, *audit_link(given.run, page.out)],
        "made_line": made_line(given.manifest, analysis_version=given.analysis.version),
        "align": alignment(given.manifest),
        "realigned": given.manifest.get("realigned"),
        "unit": given.unit,
        **style_context(page.style, given.marks),
    }


def style_context(style: dict[str, Style], marks: dict[str, list[tuple[str, str]]]) -> dict[str, Any]:
    """Colours and marks of editors, for templates and scripts."""
    return {
        "style": style,
        "marks": marks,
        "words": {name: [word for word, _ in found] for name, found in marks.items()},
        "light": Markup(css_variables(LIGHT)),
        "dark": Markup(css_variables(DARK)),
        "swatches": {editor: one.swatch for editor, one in style.items()},
        "palette": {editor: one.variable for editor, one in style.items()},
    }


def _no_finding(given: ReportInput) -> str:
    if given.chains.height == 0:
        return "No chain has been run yet."
    if given.measurements.height and given.decay is not None and not given.analysis.curves.height:
        return (
            "No variant of this run keeps the source image, so editors are not ranked; "
            "see variants, traces and failures."
        )
    return "Nothing has been measured yet."


def audit_link(run: Path, out: Path) -> list[tuple[str, str]]:
    """(link, text) of the run's audit, if there is one."""
    audit = run / "audit" / "index.html"
    return [(relative(audit, out), "metric audit")] if audit.is_file() else []
