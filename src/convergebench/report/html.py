"""The report as a static page that opens from disk: finding, pictures, charts, tables, and links to each image."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from convergebench.analysis.counts import ranking_counts
from convergebench.report.chart_library import library_file
from convergebench.report.charts.twin import warm_up
from convergebench.report.crops import CropStrip, crop_strip
from convergebench.report.folding import in_reading_order, shown_section
from convergebench.report.input import ReportInput
from convergebench.report.output import RenderedFile, write_files
from convergebench.report.page import Page, open_page
from convergebench.report.sections.base import build_section
from convergebench.report.thumbnails import HERO_SIDE
from convergebench.report.viewer import render_viewer
from convergebench.report.wording import count

HERO_SHOWN = 180
"""Pixels of a hero picture's side on a desktop page."""
AT_ONCE = 512
"""Most thumbnails held in memory."""


def write_report(given: ReportInput, out: Path, *, section_done: Callable[[], None] | None = None) -> Path:
    """Write the report into the folder `out` and return the path of its `index.html`.

    Images stay under `given.run` and are linked relatively; existing thumbnails are kept. The page is written last, so
    a killed report leaves no page or the previous one. `section_done` is called after every section.
    """
    return write_files(render_report(given, out, section_done=section_done), out)[-1]


def render_report(
    given: ReportInput, out: Path, *, section_done: Callable[[], None] | None = None
) -> Iterator[RenderedFile]:
    """Every file of the report for `out`, `index.html` last; nothing is written.

    Thumbnails that exist in `out` are not made again.
    """
    warm_up()
    page = open_page(given, out)
    images = given.steps["image"].to_list() if given.steps.height else []
    for first in range(0, len(images), AT_ONCE):
        page.thumbnails.make(images[first : first + AT_ONCE])
        yield from page.thumbnails.take()
    yield from render_viewer(page)
    shown = []
    for section in page.sections:
        content = build_section(section, page)
        yield from page.thumbnails.take()
        if content is not None:
            yield from content.files
            if content.html:
                shown.append(shown_section(section, content.html))
        if section_done is not None:
            section_done()
    hero = page.hero
    pictures = page.thumbnails.make([f.image for s in hero.strips for f in s.frames] if hero else [], square=HERO_SIDE)
    crops = _hero_crops(page)
    yield from page.thumbnails.take()
    yield library_file()
    yield (
        "index.html",
        page.render(
            "index.html",
            notices=_notices(page),
            hero=hero,
            pictures=pictures,
            crops=crops,
            invitations=[(one.file, one.invitation) for one in page.beside],
            sections=in_reading_order(shown),
        ),
    )


def _hero_crops(page: Page) -> CropStrip | None:
    """Crops of the hero's pictures at one place, chosen in the last strip: that of the editor ranked last."""
    strips = page.hero.strips if page.hero else ()
    frames = [frame.image for strip in strips for frame in strip.frames]
    return crop_strip(page.thumbnails, frames, shown_at=HERO_SHOWN)


def _notices(page: Page) -> Iterator[dict[str, Any]]:
    """The notices at the top of the page: text, anchor of its explanation, whether it is emphasised."""
    given = page.given
    counts = ranking_counts(given.analysis.ranking)
    missing = int(given.measurements["value"].null_count()) if given.measurements.height else 0
    copies = len(given.uninstructed)
    ignoring = "ignore words" if given.study.changes_stay else "only copy"  # a restorer that reads no words is a rival
    if copies == 1:
        ignoring = "ignores words" if given.study.changes_stay else "only copies"
    restricted = [name for name, facts in given.facts.items() if facts.noncommercial]
    align, moved = page.renderer.shared["align"], given.manifest.get("realigned")
    known = (
        (given.simulated, f"{count(len(given.simulated), 'editor')} simulated", "def-simulated", True),
        (copies, f"{count(copies, 'editor')} {ignoring}", "def-copies", True),
        (missing, f"{count(missing, 'value')} missing", "cost", True),
        (counts.censored, "censored: some half-lives not reached", "def-censored", False),
        (
            counts.ranked and counts.left_out,
            f"{count(counts.ranked and counts.left_out, 'chain')} left out of the ranking",
            "def-left-out",
            False,
        ),
        (given.not_run, f"not run: {', '.join(given.not_run)}", "cost", True),
        (counts.intervals, "intervals: over source images, for these edits", "def-interval", False),
        (align, f"aligned: {align}" + (f" ({moved})" if moved else ""), "made", False),
        (restricted, f"noncommercial metric: {', '.join(restricted)}", "", False),
        (True, f"{count(given.chains.height, 'chain')}, {count(given.steps.height, 'image')}", "chains", False),
    )
    yield from ({"words": text, "anchor": anchor, "loud": loud} for applies, text, anchor, loud in known if applies)
