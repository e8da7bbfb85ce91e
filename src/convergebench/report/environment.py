"""The template environment of all report pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from convergebench.report import wording
from convergebench.report.chains import script, viewer_link
from convergebench.report.charts.plot import CONFIG
from convergebench.report.charts.twin import without_twins
from convergebench.report.input import Row
from convergebench.report.output import RenderedFile
from convergebench.report.policy import policy

TEMPLATES = Path(__file__).parent / "templates"
WORDING = (
    *(wording.number, wording.short, wording.percent, wording.p_value, wording.count, wording.middle),
    *(wording.interval, wording.percents, wording.rounds_interval, wording.no_interval),
)
"""Functions that templates format numbers with."""
LONGEST_WHOLE = 20
"""Longest name, in characters, that fits on one line of a headline on a phone."""


class _Compiled(BytecodeCache):
    """Templates compiled by this process: every page opens an environment of its own, and compiling takes a second."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._kept.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


def environment() -> Environment:
    """Templates with autoescape, an error for undefined names, and our macros as globals."""
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_COMPILED,
    )
    found.globals.update(viewer_link=viewer_link, asset=_asset, unbroken=unbroken, policy=policy, chart_config=CONFIG)
    found.globals.update({function.__name__: function for function in WORDING})
    macros = found.get_template("macros.html").module
    found.globals.update({name: value for name, value in vars(macros).items() if not name.startswith("_")})
    return found


def _asset(name: str) -> Markup:
    """One of our style sheets or scripts, to be embedded unescaped."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def unbroken(sentence: str, names: Iterable[str]) -> Markup:
    """The sentence with short names kept on one line, so that a headline does not break at their hyphens."""
    short = sorted((name for name in names if "-" in name and len(name) <= LONGEST_WHOLE), key=len, reverse=True)
    if not short:
        return escape(sentence)
    parts = re.split("(" + "|".join(re.escape(name) for name in short) + ")", sentence)
    return Markup("").join(
        Markup('<span class="whole">{}</span>').format(part) if place % 2 else part for place, part in enumerate(parts)
    )


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels of a switch, each a row with a `name`; `context` is passed to their template besides `panel`."""

    group: str
    template: str
    rows: Sequence[Row]
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Renderer:
    """Renders templates with a shared context; returns text and writes nothing."""

    shared: Mapping[str, Any]

    @cached_property
    def templates(self) -> Environment:
        """The environment, opened once."""
        return environment()

    def render(self, template: str | Path, **context: Any) -> Markup:
        """Render a built-in template by its name, or another one by its path."""
        if isinstance(template, Path):
            filled = self.templates.from_string(template.read_text(encoding="utf-8"))
        else:
            filled = self.templates.get_template(template)
        return Markup(filled.render({**self.shared, **context}))

    def panels(self, panels: Panels) -> tuple[list[Row], list[RenderedFile]]:
        """The first panel for the page itself, and the others as scripts that are loaded when chosen."""
        shown: list[Row] = []
        files: list[RenderedFile] = []
        for place, panel in enumerate(panels.rows, start=1):
            with nullcontext() if place == 1 else without_twins():
                html = self.render(panels.template, **panels.context, panel=panel)
            if place > 1:
                name = f"{panels.group}-{place}"
                files.append((f"panels/{name}.js", script("panel", name, str(html))))
            shown.append({"name": panel["name"], "html": html if place == 1 else ""})
        return shown, files
