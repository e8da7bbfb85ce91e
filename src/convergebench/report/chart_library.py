"""The chart library of pages, Vega with Vega-Lite, as one script beside them: nothing is loaded from the network."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from convergebench.folders import cache_folder
from convergebench.report.charts.twin import VERSION
from convergebench.report.output import RenderedFile, write_whole

NAMES = "window.vega=vega;window.vegaLite=vegaLite;window.vegaEmbed=vegaEmbed;"
FILE = "vega.js"
"""Its name beside a page; the page's script loads it when the first chart is near the screen."""


def library_file() -> RenderedFile:
    """The library, to be written beside a page."""
    return FILE, _script()


def kept_library() -> str | None:
    """The library as an earlier report left it in the cache folder, if one did."""
    try:
        return _place().read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return None


def _place() -> Path:
    return cache_folder() / "vega" / f"vega-{version('vl-convert-python')}-{VERSION}.js"


@lru_cache(maxsize=1)
def _script() -> str:
    """The library as a script that leaves three names behind: vega, vegaLite and vegaEmbed.

    Bundling takes seconds, so the result is kept in the cache folder.
    """
    known = kept_library()
    if known is not None:
        return known
    import vl_convert

    bundle = vl_convert.javascript_bundle(NAMES, vl_version=VERSION)
    script = f"(()=>{{\n{bundle}\n}})();\n"  # its own names stay its own
    kept = _place()
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, script)
    except OSError:
        pass  # it is bundled again next time
    return script
