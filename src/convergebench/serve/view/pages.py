"""The page of the viewer and its files: a fixed list, read from this package."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from convergebench.report.chart_library import kept_library
from convergebench.report.palette import DARK, LIGHT, css_variables
from convergebench.serve.look import report_file, report_style

PAGE = Path(__file__).parent / "page"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png"}
_BUNDLE = (
    "import sys; from convergebench.report.chart_library import library_file; "
    "sys.stdout.buffer.write(library_file()[1].encode())"
)
_OF_REPORTS = ("panes.css", "viewer.css")
RUN_MODULES = (
    *("address", "keys", "make", "asking", "run", "words", "colours", "live"),
    *("images", "chain_rows", "filters", "image_grid", "paged_rows", "thumbnails", "virtual_grid"),
)
"""What the page of a run imports, one module after the other unless the browser is told before."""


class StaticFile(NamedTuple):
    """A file as it is sent."""

    data: bytes
    kind: str
    tag: str


class ViewerPages:
    """What a browser loads besides data."""

    def __init__(self, folder: Path = PAGE) -> None:
        self._folder = folder

    def shell(self, word: str, modules: Sequence[str] = ()) -> str:
        """The page, with the word that it sends when it writes and the modules that it will need."""
        ahead = "".join(f'<link rel="modulepreload" href="/static/{name}.js">\n' for name in modules)
        text = (self._folder / "shell.html").read_text(encoding="utf-8")
        return text.replace("%WORD%", word).replace("%MODULES%", ahead)

    def static(self, name: str) -> StaticFile | None:
        """A file of the page, by its name; None if there is none."""
        if name == "vega.js":
            return self._vega
        return self._files.get(name)

    @cached_property
    def _files(self) -> dict[str, StaticFile]:
        found = {
            path.name: _static(path.read_bytes(), _TYPES[path.suffix])
            for folder in (self._folder, self._folder / "vendor")
            if folder.is_dir()
            for path in sorted(folder.iterdir())
            if path.suffix in _TYPES and path.is_file()
        }
        style = report_style(light=css_variables(LIGHT), dark=css_variables(DARK))
        found["report.css"] = _static(style.encode(), "text/css")
        return found | {name: _static(report_file(name).encode(), "text/css") for name in _OF_REPORTS}

    @cached_property
    def _vega(self) -> StaticFile:
        known = kept_library()
        if known is not None:
            return _static(known.encode(), "text/javascript")
        # in a process of its own: it loads a whole JavaScript engine, whose memory would stay with the server
        done = subprocess.run([sys.executable, "-c", _BUNDLE], capture_output=True, check=True, timeout=120)
        return _static(done.stdout, "text/javascript")


def _static(data: bytes, kind: str) -> StaticFile:
    return StaticFile(data, kind, hashlib.sha256(data).hexdigest()[:20])
