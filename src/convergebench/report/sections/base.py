"""Sections of a page. A study names its sections; third parties add their own as `module:name`.

    from convergebench.report.sections.base import SectionContent

    class Sharpness:
        name, title = "sharpness", "How sharp it stays"

        def build(self, page: Page) -> SectionContent | None:
            return SectionContent(page.render(Path(__file__).with_name("sharpness.html"), rows=…))

A section that is mostly a template is a `TemplateSection`; a page of its own beside the report is a `PageBeside`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from markupsafe import Markup

from convergebench.errors import ConvergeBenchError
from convergebench.registry import error_text, load
from convergebench.report.environment import Panels, Renderer
from convergebench.report.output import RenderedFile
from convergebench.report.sections._table import TABLE

if TYPE_CHECKING:
    from convergebench.report.page import Page


@dataclass(frozen=True, slots=True)
class SectionContent:
    """The content of a section."""

    html: str = ""
    """Inserted into the page; escaped unless it is `Markup`, as `page.render` returns it."""
    files: tuple[RenderedFile, ...] = ()
    """Files beside the page."""


class ReportSection(Protocol):
    """One section of a page.

    It may also have `figures(page)`, which yields (file name, chart) for print; `draws`, the names of the tables that
    it shows (tables of a study's own analyses that no section draws are shown as plain tables); and `inside`, one line
    on its content: then the page shows it folded under that line.
    """

    @property
    def name(self) -> str:
        """Its anchor in the page."""
        ...

    @property
    def title(self) -> str:
        """Its title in the list of contents; empty for a section that is not listed there."""
        ...

    def build(self, page: Any, /) -> SectionContent | None:
        """The content for this page; None where there is nothing to show."""
        ...


class _Rendered(Protocol):
    """A page with templates."""

    @property
    def renderer(self) -> Renderer: ...


P = TypeVar("P", bound=_Rendered)
Context = Mapping[str, Any]
"""The variables of a template."""


@dataclass(frozen=True, slots=True)
class TemplateSection(Generic[P]):
    """A section whose template is filled with the result of `find(page)`; None leaves the section out.

    With a `key` the result is the template variable of that name, else it is the whole context. `Panels` in it become a
    switch.
    """

    name: str
    title: str
    template: str | Path
    find: Callable[[P], Any]
    figures: Callable[[P], Iterable[tuple[str, Any]]] = lambda page: ()
    key: str = ""

    def build(self, page: P, /) -> SectionContent | None:
        """The filled template, and the panels of its switches."""
        found = self.find(page)
        if found is None:
            return None
        return SectionContent(*fill(page.renderer, self.template, {self.key: found} if self.key else found))


@dataclass(frozen=True, slots=True)
class PageBeside:
    """A separate page, linked from the head of every page; made if the run has the analysis that it `needs`."""

    name: str
    file: str
    words: str
    """The text of links to it."""
    invitation: str
    """A sentence under the head of the report that links to it."""
    needs: str
    context: Callable[[Page], Context]
    title: str = ""

    def applies(self, page: Page) -> bool:
        """Whether the run has the analysis that the page shows."""
        return page.given.results.get(self.needs) is not None

    def build(self, page: Page, /) -> SectionContent | None:
        """The page and its panels as files, without content in the report."""
        if not self.applies(page):
            return None
        html, files = fill(page.renderer, self.file, self.context(page))
        return SectionContent(files=(*files, (self.file, html)))


def fill(renderer: Renderer, template: str | Path, context: Context) -> tuple[str, tuple[RenderedFile, ...]]:
    """The filled template, and the scripts of the panels in its context or one level below."""
    files: list[RenderedFile] = []

    def filled(value: Any) -> Any:
        if not isinstance(value, Panels):
            return value
        shown, scripts = renderer.panels(value)
        files.extend(scripts)
        return shown

    flat = {
        key: {name: filled(one) for name, one in value.items()} if isinstance(value, dict) else filled(value)
        for key, value in context.items()
    }
    return renderer.render(template, **flat), tuple(files)


def load_sections(names: Sequence[str]) -> list[ReportSection]:
    """The sections by their names: built-ins, others by entry point or as `module:name`.

    Tables that no section draws get a section, before those of `ENDING`.
    """
    listed = list(names)
    if "tables" not in listed:
        listed.insert(next((place for place, name in enumerate(listed) if name in ENDING), len(listed)), "tables")
    return [_loaded(name) for name in listed]


ENDING = ("chains", "cost", "made", "terms")
"""Sections that follow all findings."""


def _loaded(name: str) -> ReportSection:
    try:
        found = load("sections", name)
        section: ReportSection = found() if isinstance(found, type) else found
    except ConvergeBenchError as error:
        if name in TABLE:
            raise
        return _Unavailable(name, name, str(error))
    except Exception as error:  # third-party code: any error becomes one line
        return _Unavailable(name, name, error_text(error))
    lacking = [needed for needed in ("name", "title", "build") if not hasattr(section, needed)]
    return _Unavailable(name, name, f"it has no '{lacking[0]}'") if lacking else section


def build_section(section: ReportSection, page: Any) -> SectionContent | None:
    """The content of a section; where third-party code raises, the error message takes its place."""
    try:
        content = section.build(page)
        if content is not None and not isinstance(content, SectionContent):
            raise TypeError(f"build() gave a {type(content).__name__}, which should be a SectionContent or None")
        return content
    except Exception as error:
        if type(section).__module__ == __name__ and section.name in TABLE:
            raise
        return _Unavailable(section.name, section.title, error_text(error)).build(page)


@dataclass(frozen=True, slots=True)
class _Unavailable:
    """Replaces a section that cannot be shown and says why."""

    name: str
    title: str
    why: str

    def build(self, page: Any, /) -> SectionContent:
        """The reason under the title."""
        html = Markup(
            '<section id="{}">\n<h2>{}</h2>\n<p class="empty problem">This section cannot be shown: {}</p>\n</section>'
        )
        return SectionContent(html.format(self.name, self.title, self.why))
