"""A report as one file to send by mail: pictures, panels and scripts inside, nothing loaded from anywhere.

Pictures are the small copies of the report. Those on the page come first, then those of panels and of the chain list,
until the file has its size; a picture that finds no room is named as left out. The film strips and the pages beside the
report stay in the run's folder, so links to them are taken out.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

from convergebench.report.chart_library import FILE
from convergebench.report.html import write_report
from convergebench.report.input import ReportInput
from convergebench.report.output import write_whole
from convergebench.report.policy import policy
from convergebench.report.thumbnails import shrink
from convergebench.report.wording import count

MOST_BYTES = 20_000_000
"""Largest file; most mail servers take 25 MB."""
FULL_SIDE = 720
"""Long side of pictures that the report links in full size."""
_OVERHEAD = 4000
_THUMB = re.compile(r"thumbs/[0-9a-f]{2}/[0-9a-f]+\.webp")
_PICTURE = re.compile(r'(?P<name>\b(?:src|data-full))="(?P<path>[^"#:]+)"')
_LINK = re.compile(r' href="(?!#|data:|https?:|mailto:)[^"]*"')
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_POLICY = re.compile(r'(<meta http-equiv="Content-Security-Policy" content=")[^"]*(">)')
_CALL = re.compile(r"CB\.(panel|list)\((.*)\);\s*", re.DOTALL)
_BLANK = (
    "data:image/svg+xml;base64,"
    + base64.b64encode(
        b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96"><rect width="96" height="96" fill="#8a8a90" '
        b'opacity=".25"/><text x="48" y="52" font-size="12" text-anchor="middle" fill="#8a8a90">left out</text></svg>'
    ).decode()
)
_CHART = re.compile(r'(<script type="application/json">)(.*?)(</script>)', re.DOTALL)
_CHART_LINK = re.compile(r'"viewer\.html#[^"]*"')
_STYLES = ".masthead a:not([href]),.doors{display:none}.alone{margin:18px 0 0}"


@dataclass(frozen=True)
class OneFile:
    """The page, and what it has and lacks."""

    html: str
    pictures: int
    left_out: int
    """Pictures that found no room."""


def write_html(given: ReportInput, path: Path, most_bytes: int = MOST_BYTES) -> OneFile:
    """Write the report of a run as one file."""
    with TemporaryDirectory(prefix="convergebench-") as folder:
        page = write_report(given, Path(folder) / "report")
        made = one_file(page.parent, most_bytes)
    write_whole(path, made.html)
    return made


def one_file(report: Path, most_bytes: int = MOST_BYTES) -> OneFile:
    """The report in this folder as one page."""
    page = (report / "index.html").read_text(encoding="utf-8")
    calls = _calls(report, page)
    library = _library(report, page)
    around = (
        len(page.encode()) + sum(map(len, library.values())) + sum(2 * len(call.encode()) for call in calls.values())
    )  # quotes are escaped there
    room = _Room(report, most_bytes - around - _OVERHEAD)
    page = _CHART.sub(lambda found: found[1] + _CHART_LINK.sub('""', found[2]) + found[3], page)
    page = _LINK.sub("", page).replace(" Click a picture to step through its chain.", "")
    page = _PICTURE.sub(lambda found: f'{found["name"]}="{room.address(unquote(found["path"]))}"', page)
    calls = {name: _unlinked(call) for name, call in calls.items()}
    thumbs = list(dict.fromkeys(path for call in calls.values() for path in _THUMB.findall(call)))
    pictures = {path: address for path in thumbs if (address := room.address(path)) != _BLANK}
    page = _with_scripts(page, {**calls, **library}, pictures)
    page = page.replace("</style>", f"{_STYLES}</style>", 1)
    note = f'<p class="note alone">{escape(_note(room))}</p>\n'
    page = page.replace('<nav class="contents"', f'{note}<nav class="contents"', 1)
    rules = policy(_SCRIPT.findall(page), _STYLE.findall(page))
    page = _POLICY.sub(lambda found: found[1] + escape(rules, quote=False) + found[2], page, count=1)
    return OneFile(page, len(room.held), len(room.left_out))


def _note(room: _Room) -> str:
    left = f" {count(len(room.left_out), 'picture')} left out to keep the file small." if room.left_out else ""
    return (
        f"One file, made from a report: {count(len(room.held), 'picture')} inside, scaled down.{left} "
        "Film strips, full-size pictures and tables are in the folder of the run."
    )


class _Room:
    """Pictures as addresses that the page holds itself, as long as there is room."""

    def __init__(self, report: Path, left: int) -> None:
        self._report, self._left = report, left
        self.held: dict[str, str] = {}
        self.left_out: set[str] = set()

    def address(self, path: str) -> str:
        """The picture at this path, relative to the page; a blank where it is missing or finds no room.

        It is counted at every place: a page has no way to name a picture twice without a script.
        """
        found = self.held.get(path) or (None if path in self.left_out else self._read(path))
        if found is None or len(found) > self._left:
            if path not in self.held:
                self.left_out.add(path)
            self._left -= len(_BLANK)
            return _BLANK
        self._left -= len(found)
        self.held[path] = found
        return found

    def _read(self, path: str) -> str | None:
        file = self._report / path
        try:
            data = file.read_bytes()
        except OSError:
            return None
        small = data if _THUMB.fullmatch(path) else shrink(data, crop=FULL_SIDE)
        return None if small is None else f"data:image/webp;base64,{base64.b64encode(small).decode()}"


def _calls(report: Path, page: str) -> dict[str, str]:
    """Path of a script that the page loads later → the script: its panels, and the list of chains."""
    names = [path for path in sorted((report / "panels").glob("*.js")) if f'id="{path.stem}"' in page]
    listed = report / "chains" / "list.js"
    if listed.is_file() and 'id="chains"' in page:
        names.append(listed)
    return {path.relative_to(report).as_posix(): path.read_text(encoding="utf-8") for path in names}


def _library(report: Path, page: str) -> dict[str, str]:
    """The chart library as a function that runs when the first chart is near the screen, if there is a chart."""
    file = report / FILE
    if 'class="vega"' not in page or not file.is_file():
        return {}
    inside = re.sub(r"<(?=/script|!--)", r"\\x3c", file.read_text(encoding="utf-8"), flags=re.IGNORECASE)
    return {FILE: f"()=>{{{inside}}}"}


def _unlinked(call: str) -> str:
    """The call of one of the page's functions, its pictures looked up when it is made and its links taken out."""
    found = _CALL.fullmatch(call)
    if found is None:
        return "null"
    name, values = found[1], json.loads(f"[{found[2]}]")
    first, text = json.dumps(values[0]), values[1] if name == "panel" else json.dumps(values[1], ensure_ascii=True)
    inside = json.dumps(_LINK.sub("", text) if name == "panel" else text, ensure_ascii=True)
    shown = f"CB.filled({inside})"
    made = f"()=>CB.{name}({first},{shown if name == 'panel' else f'JSON.parse({shown})'})"
    return made.replace("<", "\\u003c")


def _with_scripts(page: str, calls: dict[str, str], pictures: dict[str, str]) -> str:
    """The page with its later scripts and their pictures in its last script."""
    lines = [f"{json.dumps(name)}:{call}" for name, call in calls.items()]
    more = (
        f"\nCB.alone=true;\nCB.pictures={json.dumps(pictures)};\n"
        "CB.filled=text=>text.replace(/thumbs\\/[0-9a-f]{2}\\/[0-9a-f]+\\.webp/g,path=>CB.pictures[path]||"
        f"{json.dumps(_BLANK)});\n"
        f"CB.later={{{','.join(lines)}}};\n"
    )
    head, end, tail = page.rpartition("</script>")
    return head + more + end + tail
