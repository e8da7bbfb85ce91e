"""The arrows between the rooms, and what may not be loaded before it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "convergebench"

GROUND = {
    "types",
    "errors",
    "registry",
    "ids",
    "documents",
    "redaction",
    "folders",
    "keys",
    "reasoning",
    "sheets",
    "texts",
}
"""What every room may use."""

MAY_USE: dict[str, set[str]] = {
    "redaction": set(),
    "images": set(),
    "weights": set(),
    "wire": set(),
    "rubrics": set(),
    "claims": {"images"},
    "metrics": {"images", "weights", "rubrics"},
    "edits": set(),
    "failures": {"images", "metrics"},
    "datasets": {"images", "store"},
    "editors": {"images", "edits", "weights", "metrics", "wire"},
    "studies": {"edits", "roles"},
    "store": set(),
    "roles": {"images", "metrics", "rubrics", "wire"},
    "engine": {
        "images",
        "weights",
        "metrics",
        "edits",
        "editors",
        "studies",
        "store",
        "roles",
        "rubrics",
        "failures",
        "datasets",
    },
    "analysis": {"metrics", "images"},
    "report": {"analysis", "store", "metrics", "images", "failures"},
    "cli": {
        "images",
        "weights",
        "metrics",
        "edits",
        "editors",
        "studies",
        "store",
        "roles",
        "engine",
        "analysis",
        "report",
        "failures",
        "datasets",
        "claims",
    },
}
HEAVY = ("numpy", "cv2", "PIL", "scipy", "polars", "pydantic", "matplotlib", "torch", "jinja2", "rich", "sqlite3")


def rooms_used(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "convergebench" else [f"convergebench.{a.name}" for a in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "convergebench" and len(parts) > 1:
                yield parts[1]


@pytest.mark.parametrize("room", MAY_USE)
def test_imports_run_one_way(room: str) -> None:
    for path in sorted((PACKAGE / room).rglob("*.py")):
        strangers = set(rooms_used(path)) - MAY_USE[room] - GROUND - {room}
        assert not strangers, f"{path.relative_to(PACKAGE)} reaches into {strangers}"


def test_every_room_is_in_the_picture() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms == set(MAY_USE)


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
        begun = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True, timeout=60)
        seconds.append(time.perf_counter() - begun)
    assert min(seconds) < 0.3
