"""The pages beside the report of a replicate run: decay wall, score traces, failure gallery; and its own sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment

from convergebench.report.environment import write_panels
from convergebench.report.files import write_whole
from convergebench.report.hero import STEPS, Hero
from convergebench.report.input import Row
from convergebench.report.sections.failures import CROP_SIDE, failures_section, gallery, kept_labels, shares_table
from convergebench.report.sections.noticing import noticing_section
from convergebench.report.sections.page import Page
from convergebench.report.sections.traces import choose_trace, trace_images, trace_section
from convergebench.report.sections.variants import success_section, variants_section
from convergebench.report.sections.wall import SIDE, wall_section, wall_views
from convergebench.report.thumbnails import HERO_SIDE, Thumbnails
from convergebench.report.wording import count, percent
from convergebench.store.labels import source_crop

VIEWER = ("viewer.html", "film strips")
BESIDE = (("wall.html", "decay wall"), ("traces.html", "score traces"), ("failures.html", "failures"), VIEWER)
"""(page, its name) of the pages of a replicate run."""

NOTHING: dict[str, Any] = {
    "replicate": False,
    "failures": None,
    "noticing": None,
    "variants": [],
    "success": [],
    "trace": None,
}
"""What the index of any other run has of these sections."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Where pages are made: the page's choices, its templates, what every page shares, and the folder."""

    page: Page
    templates: Environment
    shared: Mapping[str, Any]
    out: Path
    maker: Thumbnails

    def write(self, name: str, **more: Any) -> None:
        """One page."""
        write_whole(self.out / name, self.templates.get_template(name).render(**self.shared, **more))

    def panels(self, prefix: str, template: str, panels: Sequence[Row], **context: Any) -> list[Row]:
        """The first panel of a switch set into the page, the others in scripts that are loaded when they are chosen."""
        return write_panels(self.templates, self.out, prefix, template, panels, {**self.shared, **context})


def write_replicate_pages(desk: Desk, hero: Hero | None, thumbs: Mapping[str, str]) -> dict[str, Any]:
    """Write the three pages; gives what the index shows of them."""
    page = desk.page
    chosen = choose_trace(page.given, hero)
    pictures = desk.maker.make(trace_images(page.given, chosen), square=HERO_SIDE)
    trace = trace_section(page, chosen, pictures)
    _write_wall(desk)
    desk.write("traces.html", trace=trace, steps=list(STEPS))
    _write_failures(desk, thumbs)
    failures = failures_section(page)
    if failures is not None:
        failures["panels"] = desk.panels("failure", "failures_panel.html", failures["panels"])
    noticing = noticing_section(page)
    if noticing is not None:
        noticing["panels"] = desk.panels("onset", "noticing_panel.html", noticing["panels"])
    return {
        "replicate": True,
        "failures": failures,
        "noticing": noticing,
        "variants": desk.panels("variant", "variants_panel.html", variants_section(page)),
        "success": success_section(page),
        "trace": trace,
    }


def _write_wall(desk: Desk) -> None:
    views = wall_views(desk.page)
    pictures = desk.maker.make([image for view in views for image in view.images], square=SIDE)
    named = [{"name": view.pair, "view": view} for view in views]
    panels = desk.panels("wall", "wall_panel.html", named, pictures=pictures)
    desk.write("wall.html", wall=wall_section(desk.page, views), first=panels[0]["html"] if panels else "")


def _write_failures(desk: Desk, thumbs: Mapping[str, str]) -> None:
    labels = kept_labels(desk.page.given)
    kept = [row["evidence"] for row in labels if row["evidence"]]
    crops = desk.maker.make([*kept, *map(source_crop, kept)], crop=CROP_SIDE)
    blocks = gallery(desk.page, crops, thumbs)
    shares = shares_table(desk.page)
    desk.write("failures.html", blocks=blocks, shares=shares, verdict=_verdict(shares["rows"], blocks))


def _verdict(shares: list[Row], blocks: list[Row]) -> str:
    """The finding of the gallery: the failure seen in the greatest share of chains, or that none was seen."""
    seen = [row for row in shares if row["share"] is not None and row["seen"]]
    if not seen:
        return (
            f"{count(sum(block['all'] for block in blocks), 'failure')} labelled." if blocks else "No failure was seen."
        )
    top = max(seen, key=lambda row: (row["pair"] == "all", row["share"], row["seen"]))
    under = "" if top["pair"] == "all" else f" under {top['pair']}"
    interval = f" (95%: {top['interval']})" if top["interval"] else ""
    return (
        f"{top['title']} is what {top['editor']} shows most often: in {percent(top['share'])}{interval} "
        f"of {count(top['chains'], 'chain')}{under}."
    )
