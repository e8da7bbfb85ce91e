"""The static twin of a page's chart: the same Vega-Lite specification, drawn once as SVG when the page is made.

It is seen at once, without scripts, in print and in a page that is sent alone. Panels that only a script can open are
drawn by that script, so they have no twin.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from markupsafe import Markup, escape

from convergebench.report.charts.plot import CONFIG, Spec, rows_of

VERSION = "6.4"
"""Of Vega-Lite, for the page and the twin."""
_TWINS: ContextVar[bool] = ContextVar("twins", default=True)
_OPENING = re.compile(r"<svg\b[^>]*>")
_EMPTY = re.compile(r'<path class="(?:background|foreground)"[^>]*/>')
_NOISE = re.compile(r' (?:pointer-events="none"|role="[^"]*"|aria-[a-z]+="[^"]*"|opacity="1"|font-family="[^"]*")')
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_DIGITS = re.compile(r"(\d\.\d)\d+")
_LINK = re.compile(r'xlink:href="[^"]*#link-(\d+)"')


@contextmanager
def without_twins() -> Iterator[None]:
    """Charts rendered inside have no static twin: only a script shows them."""
    before = _TWINS.set(False)
    try:
        yield
    finally:
        _TWINS.reset(before)


def twins_wanted() -> bool:
    """Whether charts are drawn as static SVG too."""
    return _TWINS.get()


def warm_up() -> None:
    """Start the converter in the background; the first chart would wait most of a second for it."""
    threading.Thread(target=_convert, args=('{"data":{"values":[]},"mark":"point"}',), daemon=True).start()


def static_svg(spec: Spec, *, label: str, kind: str, linked: bool = False) -> Markup:
    """The chart as SVG. `kind` is its class beside `chart`; with links inside it is no single image."""
    layers = [layer for layer in spec["layer"] if not str(layer.get("name", "")).startswith("live_")]
    datasets = {name: rows_of(packed) for name, packed in spec["datasets"].items()}
    links: list[Markup] = []
    for row in (row for rows in datasets.values() for row in rows if "link" in row):
        links.append(Markup('href="{}" aria-label="{}"').format(row["link"], row.get("says", "")))
        row["link"] = f"#link-{len(links) - 1}"  # the converter would make it an address of its own server
    drawn = _convert(json.dumps({**spec, "layer": layers, "datasets": datasets}, sort_keys=True))
    wide = spec["width"] + spec["padding"]["left"] + spec["padding"]["right"]
    high = spec["height"] + spec["padding"]["top"] + spec["padding"]["bottom"]
    opening = Markup(
        '<svg class="chart {}" viewBox="0 0 {:g} {:g}" width="{:g}" height="{:g}" role="{}" aria-label="{}" '
        'xmlns="http://www.w3.org/2000/svg">'
    ).format(Markup(escape(kind)), wide, high, wide, high, "group" if linked else "img", label)
    bare = _NOISE.sub("", _EMPTY.sub("", drawn))
    bare = _PLACES.sub(lambda found: _DIGITS.sub(r"\1", found[0]), bare)
    bare = _LINK.sub(lambda found: str(links[int(found[1])]), bare)
    return Markup(_OPENING.sub(lambda _: str(opening), bare, count=1))


@lru_cache(maxsize=64)
def _convert(text: str) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(text, vl_version=VERSION, config=CONFIG, allowed_base_urls=[]))
