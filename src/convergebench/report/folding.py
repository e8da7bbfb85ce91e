"""Which sections of a long page are folded, and the line that says what is inside.

Sections that carry the finding stay open and come first. The others are one click away, in native `<details>`: links to
anything inside open them, a browser's search finds their text, and no script is needed. Printing leaves them out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup, escape

INSIDE = {
    "sensitivity": "other weights, metrics and levels; how a copy, noise or another image would score",
    "survival": "share of chains that have not yet passed a level of loss; half-lives with intervals",
    "onset": "first step at which damage exceeds normal variation; when the editor reports it",
    "variants": "each variant against its baseline, with intervals; was the instruction carried out",
    "trace": "a no-reference score beside the images it was given for",
    "settling": "does the image stop changing: verdicts, contraction factors, shape of the drift",
    "breakdown": "area under the curve by edit category and kind of image",
    "adherence": "was each edit done, and was it undone",
    "diagnostics": "sharpness, noise, colour, crop and shift along the chains",
    "chains": "filter and sort all chains; open one as a film strip",
    "tables": "tables of analyses that no section draws",
    "cost": "dollars and seconds by editor; chains that did not finish; missing values",
    "made": "command, versions, hashes, seed, the study file, image credits",
    "terms": "what each term on this page means",
    "factory-sessions": "success by turn in sessions of several edits",
    "factory-judge": "how far the judge can be trusted: agreement, repeats, position",
    "factory-calibration": "how often a judge's score is right",
    "factory-composition": "edit types, sizes and images of the finished set",
    "restoration-categories": "scores by degradation and by scene",
    "restoration-prompts": "every prompt, its words and its scores",
    "restoration-factors": "what each part of a prompt changes",
    "restoration-stability": "how much repeats of the same call differ",
    "restoration-refinement": "what restoring the result again does",
    "restoration-infidelity": "invented content: how often, and what kind",
    "counts": "share of images on which each metric fails, with intervals; by editor; pairwise tests",
    "confound": "what moves a score more: what the image shows, or damage",
    "content": "how far an added object moves each score",
    "risk": "share of damaged images that a quality filter would keep",
    "ranks": "rank correlation of each score with the step number and with measured damage",
    "ranges": "scores outside the range that a metric's authors state",
    "repeats": "do two measurements of the same image agree",
    "opinions": "correlation of each metric with human ratings",
    "cards": "verdict, worst contradiction and advice for each metric",
}
"""Built-in section → what is inside it. A plug-in's section folds if it has the attribute `inside`."""

_HEAD = re.compile(r"\s*(?P<section><section\b[^>]*>)\s*<h2>(?P<title>.*?)</h2>", re.DOTALL)


def shown_section(section: Any, html: str) -> dict[str, Any]:
    """A section for the page's template: its name, its title, its markup, and whether it is folded."""
    inside = INSIDE.get(section.name) or str(getattr(section, "inside", "") or "")
    if not inside and 'class="empty"' in html and not any(shown in html for shown in ("<table", "<figure", "<img")):
        inside = "nothing to show yet"
    return {
        "name": section.name,
        "title": section.title,
        "html": fold(html, section.title or section.name, inside) if inside else html,
        "folded": bool(inside),
    }


def in_reading_order(sections: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The open sections, then the folded ones."""
    return sorted(sections, key=lambda section: bool(section["folded"]))


def fold(html: str, title: str, inside: str) -> Markup:
    """The section in a closed fold. Its heading becomes the summary, so that the outline of the page stays the same.

    The anchor stays within the fold: browsers open a fold for links to what it contains, not for links to itself.
    """
    body = escape(html)
    found = _HEAD.match(body)
    heading = Markup(found["title"]) if found else escape(title)
    if found:
        body = Markup(found["section"]) + Markup(body[found.end() :])
    return Markup(
        '<details class="fold">\n<summary><h2>{}</h2> <span class="inside">{}</span></summary>\n{}\n</details>'
    ).format(heading, inside, body)
