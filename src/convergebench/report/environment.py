"""The templates and what they may call; every page of every report is made with these."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from convergebench.report.chains import script, viewer_link
from convergebench.report.files import write_whole
from convergebench.report.input import Row
from convergebench.report.policy import policy
from convergebench.report.wording import count, middle, number

TEMPLATES = Path(__file__).parent / "templates"
LONGEST_WHOLE = 20
"""Characters of a name that a headline on a phone still has room for on one line."""


def environment() -> Environment:
    """Templates that escape what they are given and stumble over what they are not."""
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals.update(number=number, count=count, viewer_link=viewer_link, asset=_asset, unbroken=unbroken)
    found.globals.update(middle=middle, policy=policy)
    return found


def _asset(name: str) -> Markup:
    """One of our own style sheets or scripts, to be set into the page as it is."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def unbroken(sentence: str, names: Iterable[str]) -> Markup:
    """The sentence with short names kept on one line; a hyphen in a name is no place to break a headline."""
    short = sorted((name for name in names if "-" in name and len(name) <= LONGEST_WHOLE), key=len, reverse=True)
    if not short:
        return escape(sentence)
    parts = re.split("(" + "|".join(re.escape(name) for name in short) + ")", sentence)
    return Markup("").join(
        Markup('<span class="whole">{}</span>').format(part) if place % 2 else part for place, part in enumerate(parts)
    )


def write_panels(
    templates: Environment, out: Path, prefix: str, template: str, panels: Sequence[Row], context: Mapping[str, Any]
) -> list[Row]:
    """The first panel of a switch set into the page, the others in scripts that are loaded when they are chosen."""
    folder = out / "panels"
    folder.mkdir(exist_ok=True)
    filled = templates.get_template(template)
    shown: list[Row] = []
    for place, panel in enumerate(panels, start=1):
        html = filled.render(**context, panel=panel)
        if place > 1:
            name = f"{prefix}-{place}"
            write_whole(folder / f"{name}.js", script("panel", name, html))
        shown.append({"name": panel["name"], "html": Markup(html) if place == 1 else ""})
    return shown
