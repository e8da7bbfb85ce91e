"""The arrows between the rooms, one name for one class, and what may not be loaded before it is needed."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from docs.pages.markdown import fill
from docs.pages.rooms import PACKAGE, PAGE, Graph, block, graph, layers, purpose, rooms

HEAVY = ("numpy", "cv2", "PIL", "scipy", "polars", "pydantic", "matplotlib", "torch", "jinja2", "rich", "sqlite3")
NEVER = {
    "studies": {"editors", "engine", "images", "store", "wire"},  # generators: no I/O, no threads, no providers
    "metrics": {"editors", "engine", "store", "wire"},  # pure functions of pixels
    "tfjs": {"editors", "metrics", "vision", "weights"},  # runs any graph, whoever uses it
    "vision": {"editors", "engine", "metrics", "store", "wire"},  # pixels in, boxes, masks and pixels out
    "analysis": {"editors", "engine", "store", "wire"},  # frames in, frames out
    "editors": {"engine", "store", "studies"},  # one attempt; what it means is the engine's business
    "report": {"editors", "engine", "wire"},  # draws what is on disk
}
"""Rooms that may not be imported from a room, whatever the drawing would still allow."""


@cache
def imports() -> Graph:
    """Those of the package, read once."""
    return graph()


def test_the_page_shows_the_imports_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docs.pages.rooms.graph", lambda package: imports())
    page = tmp_path / "rooms.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    fill(page, "imports", block())
    assert page.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), "out of date: python -m docs.generate"


def test_no_room_imports_one_above_it() -> None:
    assert layers(imports())[-1] == ["api", "cli"]  # an error names the rooms of a cycle, where there is one


@pytest.mark.parametrize("room", NEVER)
def test_a_room_keeps_out_of_what_is_not_its_business(room: str) -> None:
    assert not NEVER[room] & imports()[room].keys()


def test_the_package_itself_is_imported_by_no_room() -> None:
    """Its names come from the rooms; from there they would be a way around the layers."""
    known = set(rooms())
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if re.search(r"from\s+convergebench\s+import", text) else ():
            if isinstance(node, ast.ImportFrom) and node.module == "convergebench":
                assert {alias.name for alias in node.names} <= known, path


def test_every_room_says_what_it_is_for() -> None:
    assert not [name for name, files in rooms().items() if not purpose(files)]


def test_imports_inside_functions_are_seen_and_told_apart(tmp_path: Path) -> None:
    for name, text in {
        "low": "",
        "mid": "def f():\n    from convergebench.low import g\n",
        "top": "import convergebench.low.more\nfrom convergebench import mid\n",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(text)
    assert graph(tmp_path) == {"low": {}, "mid": {"low": False}, "top": {"low": True, "mid": True}}
    assert layers(graph(tmp_path)) == [["low"], ["mid"], ["top"]]


def test_public_class_names_are_unique() -> None:
    where: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body if "class " in text else ():
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where[node.name].append(str(path.relative_to(PACKAGE)))
    assert not {name: paths for name, paths in where.items() if len(paths) > 1}


def test_a_file_is_short_enough_to_be_read() -> None:
    long = {
        str(path.relative_to(PACKAGE)): lines
        for path in PACKAGE.rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 320
    }
    assert not long


@pytest.mark.parametrize("statement", ["import convergebench", "import convergebench.cli.main"])
def test_importing_loads_nothing_heavy(statement: str) -> None:
    code = f"{statement}; import sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert loaded.stdout.strip() == "[]"


def test_help_answers_in_under_three_tenths_of_a_second() -> None:
    command = [sys.executable, "-m", "convergebench.cli.main", "--help"]
    subprocess.run(command, capture_output=True, check=True, timeout=60)  # byte-compile once
    seconds = []
    for _ in range(5):
        begun = os.times()
        subprocess.run(command, capture_output=True, check=True, timeout=60)
        ended = os.times()  # of processor time: other processes should not make it fail
        seconds.append(sum(ended[2:4]) - sum(begun[2:4]))
    assert min(seconds) < 0.3
